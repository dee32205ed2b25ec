"""The checksum of a certificate: SHA-256 of its canonical JSON (RFC 8785), the field `checksum` left out.

The promise: two documents that say the same have the same checksum, however they are indented, ordered or spelled (1 and 1.0),
and any other change gives another one. It is no signature: whoever changes a certificate can compute it anew.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

CHECKSUM = "checksum"
WIDEST = 21  # digits before the point, from which on numbers are written with an exponent
SMALLEST = -6  # zeros behind the point, likewise


def checksum(document: Mapping[str, Any]) -> str:
    """The checksum that belongs into a document.

    Example:
        >>> checksum({"a": 1, "b": [2.0]}) == checksum({"b": [2], "a": 1.0, "checksum": "of old"})
        True
    """
    stated = {name: value for name, value in document.items() if name != CHECKSUM}
    return hashlib.sha256(canonical(stated).encode()).hexdigest()


def canonical(value: Any) -> str:
    """A JSON value in its one spelling: keys sorted, no spaces, numbers as JavaScript writes them.

    Example:
        >>> canonical({"b": [1e-05, None, True], "a": "é"})
        '{"a":"é","b":[0.00001,null,true]}'
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(name)}:{canonical(inner)}" for name, inner in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """The shortest digits that give this number, placed as ECMAScript places them."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be said in JSON")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    written, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if len(written) <= point <= WIDEST:
        written = written.ljust(point, "0")
    elif 0 < point <= WIDEST:
        written = f"{written[:point]}.{written[point:]}"
    elif SMALLEST < point <= 0:
        written = f"0.{'0' * -point}{written}"
    else:
        written = f"{written[0]}{'.' * (len(written) > 1)}{written[1:]}e{point - 1:+d}"
    return f"{'-' * sign}{written}"
