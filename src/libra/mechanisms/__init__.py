"""How a log is anonymized: the interface that all mechanisms share, and a module or a folder for each.

The module can be called: `libra.mechanisms()` lists the mechanisms, whether or not this package has been imported before.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libra.mechanisms.parameters import Described


class _Mechanisms(ModuleType):
    def __call__(self) -> dict[str, Described]:
        from libra.mechanisms.mechanism import mechanisms

        return mechanisms()


sys.modules[__name__].__class__ = _Mechanisms
