"""`libra keygen`: a pair of keys, to sign certificates and to check their signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from libra.cli.keys import new_password
from libra.cli.output import Json, Quiet, print_result

EXAMPLES = (
    "libra keygen hospital",
    "libra keygen hospital --no-password",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --sign-key hospital",
    "libra verify certificate.json out.xes --key hospital.pub",
)


def keygen(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The file of the secret key; KEY.pub goes beside it.")],
    *,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Do not encrypt the secret key: whoever can read the file can sign.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a pair of keys: KEY signs certificates and stays with you, KEY.pub checks signatures and is for everybody.

    KEY is encrypted with a password, asked for on a terminal or taken from the variable LIBRA_KEY_PASSWORD. Both files are in the
    format of minisign, which reads and writes such keys as well. Files that exist are never overwritten.
    """
    from libra.certificate.signing import check_new_keys, public_name, write_keys

    check_new_keys(key)
    public = write_keys(key, None if no_password else new_password())
    document = {"secret_key": str(key), "public_key": str(public_name(key)), "key_id": public.id, "line": public.line}
    lines = [
        f"Wrote {key}, the secret key: keep it to yourself, with a copy in a safe place.",
        f"Wrote {public_name(key)}, the public key with the ID {public.id}: publish it where people know it is yours.",
        f"In one line, for --key and for minisign -P: {public.line}",
    ]
    print_result(document | {"encrypted": not no_password}, lines, as_json=as_json, quiet=quiet)
