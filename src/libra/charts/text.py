"""Text of unknown origin made safe to show: nothing hidden, nothing that turns the text around it, nothing too long.

In: labels as they stand in a log. Out: plain text for people (`shown`, `wrapped`), and text for markup (`xml`). Whatever goes
from a log into markup passes `xml`; whatever people read passes `shown` before.
"""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import groupby

EMPTY = "(empty)"
UNKNOWN = "\ufffd"
MOST_MARKS = 3  # combining marks on one letter
JOINED = "\u0600-\u0dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"  # where joiners shape what is seen: Arabic to Malayalam, emoji
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
    f"|(?<![{JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{JOINED}])"
)
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BREAKS = re.compile(r"(?<=[\s_\-/:;,.|+])|(?<=[a-z])(?=[A-Z])")
NARROW, WIDE = frozenset("iIjltfr|!.,:;'`()[] "), frozenset("mwMW@%")


def shown(label: str, most: int = 60) -> str:
    r"""A label for people: on one line, without hidden characters, of at most so many characters.

    Example:
        >>> shown("  Admission\n to  ward "), shown("a\x00\u202eb"), shown(""), shown("Leucocytes", most=5)
        ('Admission to ward', 'a��b', '(empty)', 'Leuc…')
    """
    text = UNSEEN.sub(UNKNOWN, " ".join(label.split()))
    text = _few_marks(text) if not text.isascii() else text
    return f"{text[: most - 1].rstrip()}…" if len(text) > most else text or EMPTY


def xml(text: str) -> str:
    r"""Text for elements and attributes of XML and HTML; what XML cannot hold is replaced.

    Example:
        >>> xml('<b title="x">&\x00')
        '&lt;b title=&quot;x&quot;&gt;&amp;�'
    """
    return html.escape(NOT_XML.sub(UNKNOWN, text))


def width(text: str) -> float:
    r"""About how wide a text is, in em of an ordinary font without serifs.

    Example:
        >>> width("A") < width("AB") < width("医院")
        True
        >>> width("e\u0301") == width("e")
        True
    """
    return sum(map(_width, text))


def wrapped(text: str, most: float, lines: int) -> list[str]:
    """The text on lines of at most `most` em, broken where words end if that is possible, the last one cut if it must be.

    Example:
        >>> wrapped("Release from_ward", 6.5, 2), wrapped("ReleaseFromWard", 4.5, 2)
        (['Release', 'from_ward'], ['Release', 'From…'])
    """
    done: list[str] = []
    line = ""
    for piece in _pieces(text, most):
        if line and width(line + piece.rstrip()) > most:
            done.append(line.rstrip())
            line = ""
            if len(done) == lines:
                return [*done[:-1], _cut(done[-1], most)]
        line += piece
    return [*done, line.rstrip()] if line.strip() or not done else done


def _pieces(text: str, most: float) -> list[str]:
    """Words, and the letters of words too long for a line."""
    return [
        part
        for word in BREAKS.split(text)
        if word
        for part in ([word] if len(word) * 2 < most or width(word.rstrip()) <= most else word)
    ]


def _cut(line: str, most: float) -> str:
    while line and width(f"{line}…") > most:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _few_marks(text: str) -> str:
    """Text without heaps of combining marks."""
    runs = (
        "".join(run)[: MOST_MARKS if marks else None] for marks, run in groupby(text, lambda one: unicodedata.combining(one) > 0)
    )
    return "".join(runs)


def _width(character: str) -> float:
    if unicodedata.combining(character) or character in "\u200c\u200d\ufe0f":
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.2
    if character in NARROW:
        return 0.37
    if character in WIDE:
        return 0.97
    return 0.72 if character.isupper() else 0.61
