#!/usr/bin/env python3
"""Draws the grain of wooden boards, `public/boards/grain.svg`. Run from `web/`: `python3 scripts/boards.py`."""

import random
from pathlib import Path

SIZE = 300
LINES = 56


def line(rng: random.Random, x: float) -> str:
    """A vertical line of the grain, which wavers."""
    points = [(x + rng.uniform(-1.6, 1.6), SIZE * step / 3) for step in range(4)]
    start, *rest = points
    curve = "".join(f"S{px + rng.uniform(-2, 2):.1f} {py - 50:.0f} {px:.1f} {py:.0f}" for px, py in rest)
    width, opacity = rng.uniform(0.4, 1.6), rng.uniform(0.04, 0.12)
    return f'<path d="M{start[0]:.1f} {start[1]:.0f}{curve}" stroke-width="{width:.1f}" opacity="{opacity:.2f}"/>'


def main() -> None:
    rng = random.Random(8)
    # The rings are narrower on one side.
    places = [SIZE * (step / LINES) ** 1.25 + rng.uniform(-3, 3) for step in range(LINES + 1)]
    lines = "".join(line(rng, x) for x in places)
    folder = Path("public/boards")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grain.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none">'
        f'<g fill="none" stroke="#5a3206">{lines}</g></svg>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
