"""Labels of unknown origin made safe to show: nothing hidden, nothing too long, no two labels alike.

Whatever goes from a log into markup passes `xml`; whatever people read passes `shown` before.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """A label for people: on one line, without hidden characters, of at most so many characters."""
    text = UNSEEN.sub(UNKNOWN, " ".join(label.split()))
    if not text.isascii():
        runs = groupby(text, lambda one: unicodedata.combining(one) > 0)
        text = "".join("".join(run)[: MOST_MARKS if marks else None] for marks, run in runs)
    return f"{text[: most - 1].rstrip()}…" if len(text) > most else text or EMPTY


def xml(text: str) -> str:
    """Text for elements and attributes of XML and HTML; what XML cannot hold is replaced."""
    return html.escape(NOT_XML.sub(UNKNOWN, text))


def listed(names: Sequence[str]) -> str:
    """Names in a row, as one would say them.

    Example:
        >>> listed(["a", "b", "c"]), listed(["a"])
        ('a, b and c', 'a')
    """
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


def width(text: str) -> float:
    """About how wide a text is, in em of an ordinary font without serifs."""
    return sum(map(_width, text))


def wrapped(text: str, most: float, lines: int) -> list[str]:
    """The text on lines of at most `most` em, broken where words end if that is possible, the last one cut if it must be."""
    words = (word for word in BREAKS.split(text) if word)  # and the letters of words too long for a line
    pieces = (part for word in words for part in ([word] if len(word) * 2 < most or width(word.rstrip()) <= most else word))
    done: list[str] = []
    line = ""
    for piece in pieces:
        if line and width(line + piece.rstrip()) > most:
            done.append(line.rstrip())
            line = ""
            if len(done) == lines:
                last = done[-1]
                while last and width(f"{last}…") > most:
                    last = last[:-1]
                return [*done[:-1], f"{last.rstrip()}…"]
        line += piece
    return [*done, line.rstrip()] if line.strip() or not done else done


def shown_apart(labels: Iterable[str], most: int = 60) -> dict[str, str]:
    """What is shown of each label: at most so many characters, and behind them a number where others would look the same."""
    texts = {label: shown(label, most) for label in labels}
    numbers = numbers_behind({label: (text,) for label, text in texts.items()})
    return {label: text + numbers[label] for label, text in texts.items()}


def numbers_behind(forms: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """What to put behind all the forms of a label: a number where its last form, the shortest, is that of others too, or nothing.

    Labels that agree in any of their forms have to agree in the last one. Numbers go by the order of the alphabet, and pass over
    those with which a form would be that of another label. The work grows with the number of labels, even if all of them clash.
    """
    often = Counter(of[-1] for of in forms.values())
    taken = {form for of in forms.values() for form in of}
    last: Counter[str] = Counter()
    behind = {}
    for label in sorted(forms):
        of = forms[label]
        number = ""
        while often[of[-1]] > 1 and (not number or any(form + number in taken for form in of)):
            last[of[-1]] += 1
            number = f" ({last[of[-1]]})"
        behind[label] = number
    return {label: behind[label] for label in forms}


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
