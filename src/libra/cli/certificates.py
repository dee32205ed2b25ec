"""Commands on certificates and keys: certificate, verify, keygen."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.options import Json, PublicKeyFile, Quiet, argument, command, output_option, switch
from libra.cli.output import Stages, print_json, print_notes, print_result, printable, say
from libra.errors import InputError, UsageError

if TYPE_CHECKING:
    from libra.certificate.check import Verification
    from libra.certificate.minisign import SecretKey
    from libra.certificate.page import Page

BAR = 36  # characters for all that may be spent: with the longest name it fits into 80 columns


@command(
    "libra certificate certificate.json", "libra certificate certificate.json -o certificate.html", "libra certificate --schema"
)
def certificate(
    certificate: Annotated[Path | None, argument("CERTIFICATE", "A file that --certificate wrote.")] = None,
    *,
    key: PublicKeyFile = None,
    output: Annotated[Path | None, output_option("Write an HTML page to print instead.", "PAGE")] = None,
    schema: Annotated[bool, switch("--schema", "Print the JSON Schema of certificates instead.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a certificate on one page: the promise in a sentence, what it means in odds, what has to hold, what was spent.

    If it contradicts itself, is from a seeded run or is not signed by the --key, the page begins with that, and the exit code
    is 1. To check that it belongs to a file, use libra verify.
    """
    from libra._system.files import atomic_output
    from libra.certificate.document import read_certificate, why_invalid
    from libra.certificate.document import schema as published
    from libra.certificate.page import html_of, page_of
    from libra.certificate.signing import public_key, vouched
    from libra.certificate.verify import self_checks
    from libra.targets import check_writable

    if schema:
        print_json(published())
        return
    if certificate is None:
        raise UsageError("Name a certificate, or use --schema.")
    if output is not None:
        check_writable(certificate, output, "page")
    trusted, (raw, document) = None if key is None else public_key(key), read_certificate(certificate)
    if wrong := why_invalid(document):
        raise InputError(f"this certificate is damaged: {wrong}", place=str(certificate), remedy="Ask for it again")
    signature = vouched(raw, certificate, trusted)
    checks = [*([signature.check] if signature.check else []), *self_checks(document)]
    page = page_of(document, checks, certificate.name, signature)
    if output is not None:
        with atomic_output(output) as stream:
            stream.write(html_of(page).encode())
    if as_json:
        print_json(document)
    elif output is not None:
        print_result({}, [f"Wrote {output}"], as_json=False, quiet=quiet)
    else:
        show_page(page)
    print_notes((f"{page.verdict.partition('. ')[0]}. {warning}" for warning in page.warnings), quiet=quiet)
    if page.warnings:
        raise typer.Exit(1)


def show_page(page: Page) -> None:
    """The page on the terminal."""
    say(page.title, bold=True)
    say(page.issued)
    say(page.signature, bold=True)
    for warning in page.warnings:
        say(warning, lead="DOES NOT HOLD: ", bold=True)
    say()
    say(page.sentence, bold=True)
    for section in page.sections:
        say()
        say(section.title, bold=True)
        width = max((len(name) for name in [row[0] for row in section.table] + [bar[0] for bar in section.bars]), default=0)
        columns = zip(*(values for _, *values in section.table), strict=True)
        cells = [max(map(len, column)) for column in columns]
        for name, *values in section.table:
            figures = "  ".join(f"{value:>{cell}}" for value, cell in zip(values, cells, strict=True))
            say(figures if len(values) > 1 else values[0], lead=f"{name:{width}}  ")
        for name, share in section.bars:
            say("#" * round(BAR * min(share, 1.0)), lead=f"{name:{width}}  {100 * share:5.1f} %  ")
        for paragraph in section.text:
            say(paragraph)
        for point in section.points:
            say(point, lead="- ")
        if section.command:
            say(section.command, lead="  ", wrapped=False)  # never broken, so that it can be copied


@command(
    "libra verify certificate.json anonymized.xes.gz",
    "libra verify certificate.json anonymized.xes.gz --key hospital.pub",
    "libra verify certificate.json anonymized.xes.gz --json",
)
def verify(
    certificate: Annotated[Path, argument("CERTIFICATE", "A file that --certificate wrote.")],
    output: Annotated[Path, argument("OUT", "The released log that it is about.")],
    *,
    key: PublicKeyFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate: its form, its figures against its ledger, its sentences, and that it is about this file.

    With --key it also has to be signed by that key. Without, anyone could have written the certificate, and the verdict is
    "Consistent, not signed" at best.

    The exit code is 0 if everything holds, and 1 if something does not, or if nothing is proved (only claimed).
    """
    from libra import api

    found = api.verify(certificate, output, key=key, progress=Stages(quiet=quiet))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        show_verification(found)
    if not found.promised:
        raise typer.Exit(1)


def show_verification(found: Verification) -> None:
    """One line a check, then the verdict."""
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        told = check.found if check.ok else f"{check.found} {check.meaning}"
        say(told, lead=f"{'ok' if check.ok else 'failed':6}  {check.name:{width}}  ")
    say(found.verdict, bold=True)


@command(
    "libra keygen hospital",
    "libra keygen hospital --no-password",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --sign-key hospital",
    "libra verify certificate.json out.xes --key hospital.pub",
)
def keygen(
    key: Annotated[Path, argument("KEY", "The file of the secret key; KEY.pub goes beside it.")],
    *,
    no_password: Annotated[
        bool, switch("--no-password", "Do not encrypt the secret key: whoever can read the file can sign.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a pair of keys: KEY signs certificates and stays with you, KEY.pub checks signatures and is for everybody.

    KEY is encrypted with a password, which is asked for on a terminal or taken from the variable LIBRA_KEY_PASSWORD. Both files
    are in the format of minisign, which reads and writes such keys as well. Existing files are never overwritten.
    """
    from libra.certificate.signing import check_new_keys, public_name, write_keys

    check_new_keys(key)
    public = write_keys(key, None if no_password else _new_password())
    document = {"secret_key": str(key), "public_key": str(public_name(key)), "key_id": public.id, "line": public.line}
    lines = [
        f"Wrote {key}, the secret key: keep it to yourself, with a copy in a safe place.",
        f"Wrote {public_name(key)}, the public key with the ID {public.id}: publish it where people know it is yours.",
        f"In one line, for --key and for minisign -P: {public.line}",
    ]
    print_result(document | {"encrypted": not no_password}, lines, as_json=as_json, quiet=quiet)


def opened(key: Path) -> SecretKey:
    """A secret key, its password asked for on a terminal; warns on stderr if others can read its file."""
    from getpass import getpass

    from libra.certificate.signing import others_may_read, secret_key

    secret = secret_key(key, (lambda: getpass(f"Password of {key}: ")) if sys.stdin.isatty() else None)
    if others_may_read(key):
        remedy = shlex.join(["chmod", "600", str(key)])
        print(f"warning: {printable(f'{key}: others can read this secret key. Change that: {remedy}')}", file=sys.stderr)
    return secret


def _new_password() -> str:
    """The password of a new key: from LIBRA_KEY_PASSWORD, or asked for twice."""
    from getpass import getpass

    from libra.certificate.signing import NO_PASSWORD, PASSWORD

    given = os.environ.get(PASSWORD)
    if given is None:
        if not sys.stdin.isatty():
            raise UsageError(f"The secret key needs a password. {NO_PASSWORD}, or write it without one: --no-password.")
        given = getpass("Password for the new key: ")
        if given and getpass("The same password again: ") != given:
            raise UsageError("The two passwords differ. Nothing was written.")
    if not given:
        raise UsageError("The password is empty. Choose one, or write the key without: --no-password.")
    return given
