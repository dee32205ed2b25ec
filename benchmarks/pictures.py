"""The picture of README.md: the bundled log and an anonymized copy of it, as process maps side by side.

    python -m benchmarks.pictures > docs/maps.svg

The release is seeded, so that the same version draws the same picture.
"""

from __future__ import annotations

import re
import sys

import libra
from libra import example
from libra.reporting.drawing import MAP_STYLE, PALETTE
from libra.reporting.maps import map_pair

GAP, TOP, MARGIN = 28.0, 34.0, 16.0
SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
TITLES = ("Original", "Anonymized, epsilon 1")


def main() -> None:
    """Print the picture."""
    log = libra.read(example.path())
    level = map_pair(log, libra.anonymize(log, epsilon=1.0, seed=1).log).levels[0]
    maps = [level.original or "", level.anonymized]
    sizes = [(float(wide), float(tall)) for drawing in maps for wide, tall in SIZE.findall(drawing)]
    wide = sum(size[0] for size in sizes) + GAP + 2 * MARGIN
    tall = max(size[1] for size in sizes) + TOP + MARGIN
    sys.stdout.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lm" viewBox="0 0 {wide:g} {tall:g}" width="{wide:g}" height="{tall:g}" '
        'role="img" aria-label="The process maps of the bundled log and of an anonymized copy of it, side by side on one layout">'
        f"<style>{PALETTE}{MAP_STYLE}.ground{{fill:var(--panel)}}"
        f".lm .title{{text-anchor:start;font:600 15px system-ui,sans-serif}}"
        f'</style><rect class="ground" width="100%" height="100%" rx="10"/>'
    )
    left = MARGIN
    for drawing, title, size in zip(maps, TITLES, sizes, strict=True):
        sys.stdout.write(f'<text class="title" x="{left:g}" y="24">{title}</text>')
        sys.stdout.write(drawing.replace("<svg ", f'<svg x="{left:g}" y="{TOP:g}" ', 1))
        left += size[0] + GAP
    sys.stdout.write("</svg>\n")


if __name__ == "__main__":
    main()
