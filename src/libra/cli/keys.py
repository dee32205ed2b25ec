"""Keys on the command line: the options that name them, and secret keys, with their passwords asked for on a terminal."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.input_options import OUTPUT
from libra.cli.output import printable
from libra.errors import UsageError

if TYPE_CHECKING:
    from libra.certificate.minisign import SecretKey

PublicKeyFile = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY.pub",
        help="Public key of the custodian, a file or its line of text: the certificate has to be signed by it.",
        show_default=False,
    ),
]
SecretKeyFile = Annotated[
    Path | None,
    typer.Option(
        "--sign-key",
        metavar="KEY",
        help="Sign the certificate with this secret key; the signature goes beside it, as FILE.minisig. See libra keygen.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]


def opened(key: Path) -> SecretKey:
    """A secret key, its password asked for on a terminal; warns on stderr where others can read its file."""
    from libra.certificate.signing import others_may_read, secret_key

    secret = secret_key(key, _asking(key))
    if others_may_read(key):
        command = shlex.join(["chmod", "600", str(key)])
        print(f"warning: {printable(f'{key}: others can read this secret key. Change that: {command}')}", file=sys.stderr)
    return secret


def _asking(key: Path) -> Callable[[], str] | None:
    """What asks for the password of a key; None where there is no terminal."""
    if not sys.stdin.isatty():
        return None
    from getpass import getpass

    return lambda: getpass(f"Password of {key}: ")


def new_password() -> str:
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
