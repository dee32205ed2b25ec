"""Text in any encoding to UTF-8, in one piece or in many.

In: the bytes of a file. Out: the same text as UTF-8 without a mark, and a note where the encoding had to be guessed. What is not
in the encoding that was named is an `InputError` with its line. Where none was named, so is text of which some is UTF-8 and some
is not.
"""

from __future__ import annotations

import codecs
import re

from libra.errors import InputError
from libra.eventlog.open_choices import encoding_is_open
from libra.eventlog.options import ReadOptions

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BLANK = b" \t\r\n"
_IN_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CUT_OFF = "unexpected end of data"


def refuse_blank(text: bytes, source: str) -> None:
    """An `InputError` where there is nothing but white space."""
    if not text.strip(_BLANK):
        raise InputError("the file is empty", place=source, remedy="Export the log again")


class Utf8Decoder:
    r"""The text of a file as UTF-8, piece by piece.

    Example:
        >>> decoder = Utf8Decoder(ReadOptions(), "a.csv")
        >>> decoder.decode(b"M\xc3"), decoder.decode(b"\xbcller", last=True)
        (b'M', b'\xc3\xbcller')
    """

    def __init__(self, options: ReadOptions, source: str) -> None:
        self.notes: list[str] = []
        self._encoding, self._source = options.encoding, source
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = self._surely_utf8 = self._guessed = False
        self._held = b""  # the beginning of a character
        self._bytes = self._lines = self._lines_out = 0

    @property
    def encoding(self) -> str:
        """The encoding that the text so far is in."""
        return self._encoding or "utf-8"

    def decode(self, data: bytes, *, last: bool = False) -> bytes:
        """The next piece; what it has of a character that goes on in the next one waits for that."""
        if not self._begun:
            data = self._without_mark(data)
        if not self._encoding:
            self._refuse_binary(data, self._lines)
            data = self._as_utf8(self._held + data, last)
        if self._encoding:
            data = self._recoded(data, last)
        self._refuse_binary(data, self._lines_out)
        self._lines_out += data.count(b"\n")
        return data

    def _without_mark(self, data: bytes) -> bytes:
        self._begun = True
        for mark, of in _BOMS:
            named = self._encoding is None or self._encoding.lower().replace("_", "-").startswith(of[:6].rstrip("-"))
            if data.startswith(mark) and named:
                self._encoding = of
                return data[len(mark) :]
        return data

    def _as_utf8(self, data: bytes, last: bool) -> bytes:
        """The data as it is if it is UTF-8; else, and where nothing before speaks against it, it is Windows-1252 from now on."""
        self._held = b""
        try:
            if not data.isascii():
                data.decode("utf-8")
                self._surely_utf8 = True
        except UnicodeDecodeError as error:
            if not last and error.reason == _CUT_OFF and error.end == len(data):
                data, self._held = data[: error.start], data[error.start :]
                self._surely_utf8 |= not data.isascii()
            elif self._surely_utf8 or _IN_UTF8.search(data):
                raise self._not_valid("utf-8", data, error) from error
            else:
                self._encoding, self._guessed = "cp1252", True
                self.notes.append(encoding_is_open())
                return data
        self._bytes += len(data)
        self._lines += data.count(b"\n")
        return data

    def _recoded(self, data: bytes, last: bool) -> bytes:
        encoding = self._encoding or ""
        if self._guessed:
            seen = self._held + data
            found = _IN_UTF8.search(seen)
            self._held = data[-3:]
            if found:
                raise self._not_valid("utf-8 or cp1252", data, UnicodeDecodeError("utf-8", seen, found.start(), found.end(), ""))
        try:
            if self._decoder is None:
                if not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
                    raise LookupError(encoding)
                self._decoder = codecs.getincrementaldecoder(encoding)()
            text = self._decoder.decode(data, last).encode("utf-8")
        except LookupError as error:
            remedy = "Try --encoding utf-8 or cp1252"
            raise InputError(f'there is no encoding "{encoding}"', place=self._source, remedy=remedy) from error
        except UnicodeError as error:
            raise self._not_valid(encoding, data, error) from error
        self._bytes += len(data)
        self._lines += data.count(b"\n")
        return text

    def _not_valid(self, encoding: str, data: bytes, error: UnicodeError) -> InputError:
        at = error.start - (len(error.object) - len(data)) if isinstance(error, UnicodeDecodeError) else 0
        line = self._lines + data.count(b"\n", 0, max(at, 0)) + 1
        return InputError(
            f"byte {self._bytes + at + 1:,} is not valid {encoding} text",
            place=f"{self._source}, line {line}",
            remedy="Name the right encoding with --encoding",
        )

    def _refuse_binary(self, data: bytes, lines: int) -> None:
        nul = data.find(b"\0")
        if nul >= 0:
            line = lines + data.count(b"\n", 0, nul) + 1
            raise InputError(
                "this is a binary file, not text",
                place=f"{self._source}, line {line}",
                remedy="Export the log as CSV, or name the encoding with --encoding (such as utf-16-le)",
            )
