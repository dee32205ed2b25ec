"""Seeds that follow from another one: every part of something large draws by itself, in any order and in any process."""

from __future__ import annotations

from hashlib import blake2b


def derived_seed(seed: int, part: int) -> int:
    """A seed for one part of what is drawn from a seed.

    Example:
        >>> derived_seed(1, 0) == derived_seed(1, 0) != derived_seed(1, 1) != derived_seed(2, 1)
        True
    """
    return int.from_bytes(blake2b(f"{seed}/{part}".encode(), digest_size=8).digest(), "big") >> 1
