"""What a mechanism says about flags, in the words that `libra compare` takes.

In: why a mechanism refused, written for `libra anonymize`, where some parameters have a flag. Out: the same with `--set b=7` for
`--b 7`. A parameter that the setting fixes is said as `b=7`, and one that is spoken of in general by its name alone.
Flags that are no parameter of the mechanism, and those that the comparison has too, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from libra.comparison.setting import Setting
from libra.errors import LibraError
from libra.mechanisms.mechanism import mechanism, parameters_of

OURS = ("epsilon", "delta")
NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
WORD = r"[A-Za-z]\w*(?=[.,;:)]|$)"  # a value ends its clause; another word goes on with it
SET = re.compile(r"--set ((\w+)=)")
FLAG = re.compile(rf"--([a-z][a-z0-9-]*)(?: ({NUMBER}|{WORD}))?")


def in_our_words(reason: str, setting: Setting, parameters: Mapping[str, Any]) -> str:
    """What a mechanism said that was asked with these parameters.

    Example:
        >>> in_our_words("Ask for --b 7 or for a larger --delta.", Setting("libra2022"), {})
        'Ask for --set b=7 or for a larger --delta.'
        >>> in_our_words("Ask for --set prune=7 or a larger prune.", Setting("sacofa", {"prune": 0.01}), {})
        'Ask for prune=7 or a larger prune.'
    """
    known, switches = parameters_of(setting.mechanism), _switches(setting, parameters)

    def said(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        value = flag[2] or ("true" if name in switches else None)
        if name not in known or (name in OURS and name not in setting.parameters):
            return flag[0]
        if value is None:
            return name
        return f"{name}={value}" if name in setting.parameters else f"--set {name}={value}"

    return FLAG.sub(said, SET.sub(lambda found: found[1] if found[2] in setting.parameters else found[0], reason))


def _switches(setting: Setting, parameters: Mapping[str, Any]) -> set[str]:
    """The parameters that are true or false; none are known of a mechanism that cannot be made."""
    try:
        made = mechanism(setting.mechanism, parameters)
    except LibraError:
        return set()
    return {name for name in parameters_of(setting.mechanism) if isinstance(getattr(made, name, None), bool)}
