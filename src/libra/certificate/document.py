"""The certificate as a file: written whole or not at all, read with suspicion.

Nothing that is written was computed from the original: size and fingerprint are those of the anonymized file. What is read is a
Libra certificate of the format that this version knows, in which every field stands once; anything else is an error for people.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from libra._system.files import atomic_output
from libra.certificate.minisign import SecretKey
from libra.certificate.signing import signature_of, signature_text
from libra.errors import InputError
from libra.eventlog.files import open_input
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.release import DOCUMENT
from libra.targets import check_writable

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

FORMAT = 1
LARGEST = 1_000_000  # bytes
BLOCK = 1 << 20
BEYOND_WHOLE = 2**53  # below this, every reader of JSON keeps whole numbers exactly
NAMED = "Name the file that --certificate wrote"
CHECKSUM = "checksum"
WIDEST = 21  # digits before the point, from which on numbers are written with an exponent
SMALLEST = -6  # zeros behind the point, likewise
KINDS = {"array": "a list", "boolean": "true or false", "integer": "a whole number", "null": "null", "number": "a number"}
KINDS |= {"object": "an object", "string": "text"}
BOUNDS = {"minimum": "has to be {} or more", "maximum": "has to be {} or less", "maxItems": "has more than {} items"}
BOUNDS |= {"exclusiveMinimum": "has to be more than {}", "exclusiveMaximum": "has to be less than {}"}
LONGEST = 40  # characters of a name that is not ours


def write_certificate(statement: Mapping[str, Any], released: Path, path: Path, key: SecretKey | None = None) -> None:
    """Write the certificate of a released file, or of a folder of files that hold one log; with a key, its signature too."""
    name = released.name.encode(errors="backslashreplace").decode()
    document = {"document": DOCUMENT, "format": FORMAT} | dict(statement) | {"output": {"file": name} | fingerprint(released)}
    document[CHECKSUM] = checksum(document)
    with contextlib.ExitStack() as written:  # both appear at its end, one right after the other
        stream = written.enter_context(atomic_output(path))
        content = (json.dumps(document, indent=2, allow_nan=False) + "\n").encode()
        stream.write(content)
        if key is not None:
            signature = signature_text(key, content, path).encode()
            written.enter_context(atomic_output(signature_of(path))).write(signature)


def check_certificate(source: object, output: str | Path, certificate: str | Path, *, signed: bool = False) -> None:
    """Refuse a certificate that cannot be written, or that would replace the source or the output; likewise its signature."""
    signature = signature_of(certificate)
    check_writable(source, certificate, "certificate", {"output": output})
    if signed:
        check_writable(source, signature, "signature", {"output": output})
    elif signature.exists():
        what = "there is a signature by this name, which would not fit the new certificate"
        remedy = "Sign it as well (--sign-key), remove the old signature, or name another certificate"
        raise InputError(what, place=str(signature), remedy=remedy)


def fingerprint(released: Path, progress: Progress = no_progress) -> dict[str, Any]:
    """The size and the SHA-256 of a file; of a folder, of all its data files together.

    For a folder that is the SHA-256 of one line a file, sorted: its own SHA-256 and its name within the folder. Files whose name
    begins with "_" or "." are none of the data: Spark marks there that it is done.
    """
    if not released.is_dir():
        return _of_file(released, progress)
    files = data_files(released)
    if not files:
        raise InputError("there is no data in this folder", place=str(released), remedy="Name the folder that was released")
    in_all = sum(file.stat().st_size for file in files.values())
    digest, size = hashlib.sha256(), 0
    for name, file in files.items():
        found = _of_file(file, no_progress)
        digest.update(f"{found['sha256']}  ".encode() + name.encode(errors="surrogateescape") + b"\n")
        size += found["bytes"]
        progress(size, in_all)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _of_file(file: Path, progress: Progress) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with open_input(file, "none", progress) as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
            size += len(block)
    return {"bytes": size, "sha256": digest.hexdigest()}


def data_files(folder: Path) -> dict[str, Path]:
    """The files that hold the data of a folder, by their names within it, sorted."""
    names = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {name: names[name] for name in sorted(names) if not any(part[0] in "_." for part in name.split("/"))}


def read_certificate(path: Path, remedy: str = NAMED) -> tuple[bytes, dict[str, Any]]:
    """What stands in the file of a certificate, which is what a signature is over, and the document in it.

    Whether it holds is for `verify` to say. What is no certificate, or one of another format, is an `InputError`; `remedy` says
    what to do about it.
    """

    def refused(what: str, remedy: str = remedy) -> InputError:
        return InputError(what, place=str(path), remedy=remedy)

    with open_input(path, "none") as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise refused("this file is too large to be a certificate")
    document = _parsed(path, raw, remedy)
    if not isinstance(document, dict) or document.get("document") != DOCUMENT:
        if isinstance(document, dict) and document.get("document") == "Libra release":
            raise refused("this is what --json prints for the custodian, not a certificate")
        raise refused("this is JSON, but no Libra certificate")
    if "format" not in document:
        old = 'this certificate has no field "format": it is from a version of Libra before certificates could be verified'
        raise refused(old, "Compare the sha256 in it with that of the file by hand, or ask for a new release")
    if document["format"] != FORMAT:
        other = f"this certificate is of format {json.dumps(document['format'])[:40]}, and this version of Libra knows {FORMAT}"
        raise refused(other, "Use the version of Libra that issued it, or a later one")
    return raw, document


def _parsed(path: Path, raw: bytes, remedy: str) -> Any:
    """The JSON value of a file in which no name stands twice and every number is one that all readers agree on."""

    def refuse(what: str) -> NoReturn:
        raise InputError(what, place=str(path), remedy="Ask for the certificate again")

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        once = dict(pairs)
        if len(once) < len(pairs):
            twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
            refuse(f'the field "{twice}" stands there twice, so that readers may disagree on what it says')
        return once

    def number(text: str) -> float:
        value = float(text)
        return value if math.isfinite(value) else refuse(f"{text[:40]} is not a number that can be kept")

    def whole(text: str) -> int | float:
        return int(text) if abs(number(text)) < BEYOND_WHOLE else refuse(f"{text[:40]} is not a number that can be kept")

    try:
        text = raw.decode("utf-8-sig")
        parsed = json.loads(text, object_pairs_hook=fields, parse_float=number, parse_int=whole, parse_constant=number)
        json.dumps(parsed, ensure_ascii=False).encode()  # half a surrogate pair is no text
        return parsed
    except UnicodeError as error:
        raise InputError("this is not text in UTF-8", place=str(path), remedy=remedy) from error
    except json.JSONDecodeError as error:
        what = f"this is not JSON ({error.msg.lower()})"
        raise InputError(what, place=f"{path}, line {error.lineno}", remedy=remedy) from error
    except RecursionError as error:
        raise InputError("this is nested too deeply to be a certificate", place=str(path), remedy=remedy) from error


def checksum(document: Mapping[str, Any]) -> str:
    """The checksum that belongs into a document."""
    stated = {name: value for name, value in document.items() if name != CHECKSUM}
    return hashlib.sha256(canonical(stated).encode()).hexdigest()


def canonical(value: Any) -> str:
    """A JSON value in its one spelling: keys sorted, no spaces, numbers as JavaScript writes them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(name)}:{canonical(inner)}" for name, inner in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=10_000)
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


def schema() -> dict[str, Any]:
    """The schema, a JSON-ready document of its own."""
    return cast("dict[str, Any]", json.loads(files("libra.certificate").joinpath("schema.json").read_text(encoding="utf-8")))


def why_invalid(document: Mapping[str, Any]) -> str | None:
    """The first place where a document departs from the schema, in words; None where it does not."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(document)
    except JsonSchemaValueException as error:
        place = (error.name or "data").removeprefix("data").removeprefix(".")
        return f"{place or 'it'} {_departure(error)}"
    return None


def _departure(error: JsonSchemaValueException) -> str:
    """What is wrong at the place, by the rule that it breaks."""
    rule, asked, found = error.rule, error.rule_definition, error.value
    if rule == "required":
        return f'has no field "{next(name for name in asked if name not in found)}"'
    if rule == "additionalProperties":
        other = next(name for name in found if name not in error.definition["properties"])
        return f'has a field "{other[:LONGEST]}", which no certificate has there'
    if rule == "type":
        return f"has to be {' or '.join(KINDS[kind] for kind in ([asked] if isinstance(asked, str) else asked))}"
    if rule in ("const", "enum"):
        return f"has to be {' or '.join(json.dumps(value) for value in (asked if rule == 'enum' else [asked]))}"
    if rule in BOUNDS:
        return BOUNDS[rule].format(f"{asked:g}")
    return "should not be there" if rule is None else "is not what can stand there"


@cache
def _validator() -> Callable[[Mapping[str, Any]], object]:
    from fastjsonschema import compile as compiled

    return cast("Callable[[Mapping[str, Any]], object]", compiled(schema(), use_default=False))
