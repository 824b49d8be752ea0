#!/usr/bin/env python3
"""Draws the shogi pieces: outlines of characters on a piece of wood, in the sets "kanji", "brush", "gothic" and
"international".

Needs fonttools with brotli, Noto Serif CJK JP Bold, Noto Sans CJK JP Bold, DejaVu Sans Bold, and Yuji Boku
(`npm install --no-save @fontsource/yuji-boku`). Run from `web/`: `python3 scripts/shogi_pieces.py`.
"""

import sys
from pathlib import Path

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTCollection, TTFont

KANJI_FONT = "/usr/share/fonts/opentype/noto/NotoSerifCJK-Bold.ttc"
GOTHIC_FONT = "/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc"
LETTER_FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
#: One font file for each range of characters.
BRUSH_FONTS = Path("node_modules/@fontsource/yuji-boku/files")

# Role, letter, kanji, size on the board, whether promoted.
PIECES = [
    ("king", "K", "玉", 1.0, False),
    ("rook", "R", "飛", 0.98, False),
    ("bishop", "B", "角", 0.98, False),
    ("gold", "G", "金", 0.94, False),
    ("silver", "S", "銀", 0.94, False),
    ("knight", "N", "桂", 0.9, False),
    ("lance", "L", "香", 0.88, False),
    ("pawn", "P", "歩", 0.84, False),
    ("dragon", "R", "龍", 0.98, True),
    ("horse", "B", "馬", 0.98, True),
    ("promotedsilver", "S", "全", 0.94, True),
    ("promotedknight", "N", "圭", 0.9, True),
    ("promotedlance", "L", "杏", 0.88, True),
    ("tokin", "P", "と", 0.84, True),
]

#: The two characters on real pieces.
FULL = {
    "king": "玉将",
    "rook": "飛車",
    "bishop": "角行",
    "gold": "金将",
    "silver": "銀将",
    "knight": "桂馬",
    "lance": "香車",
    "pawn": "歩兵",
    "dragon": "龍王",
    "horse": "龍馬",
    "promotedsilver": "成銀",
    "promotedknight": "成桂",
    "promotedlance": "成香",
    "tokin": "と",
}

GOLD = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (0, 1)]
# One step (x, y with -1 forwards) and slides, of each role.
STEPS = {
    "king": [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y],
    "rook": [],
    "bishop": [],
    "gold": GOLD,
    "silver": [(-1, -1), (0, -1), (1, -1), (-1, 1), (1, 1)],
    "knight": [(-0.55, -1.35), (0.55, -1.35)],
    "lance": [],
    "pawn": [(0, -1)],
    "dragon": [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    "horse": [(0, -1), (0, 1), (-1, 0), (1, 0)],
    "promotedsilver": GOLD,
    "promotedknight": GOLD,
    "promotedlance": GOLD,
    "tokin": GOLD,
}
STRAIGHT = [(0, -1), (0, 1), (-1, 0), (1, 0)]
DIAGONAL = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
SLIDES = {
    "rook": STRAIGHT,
    "dragon": STRAIGHT,
    "bishop": DIAGONAL,
    "horse": DIAGONAL,
    "lance": [(0, -1)],
}

INK, RED = "#26201a", "#b3261e"


class Font:
    """The characters of one font, which may have several files."""

    def __init__(self, *fonts, digits=1):
        self.fonts = fonts
        self.digits = digits

    def outline(self, character, box, stretch=False):
        """The path of a character, fitted into the box (x, y, width, height), and stretched if needed."""
        font = next(font for font in self.fonts if ord(character) in font.getBestCmap())
        glyphs = font.getGlyphSet()
        glyph = glyphs[font.getBestCmap()[ord(character)]]
        bounds = BoundsPen(glyphs)
        glyph.draw(bounds)
        left, bottom, right, top = bounds.bounds
        x, y, width, height = box
        across, up = width / (right - left), height / (top - bottom)
        if not stretch:
            across = up = min(across, up)
        dx = x + (width - across * (right - left)) / 2 - across * left
        dy = y + (height - up * (top - bottom)) / 2 + up * top
        pen = SVGPathPen(glyphs, ntos=lambda v: f"{v:.{self.digits}f}".rstrip("0").rstrip(".") if self.digits else f"{v:.0f}")
        glyph.draw(TransformPen(pen, (across, 0, 0, -up, dx, dy)))
        return pen.getCommands()


def body(size, flat=False):
    """The wood: a pentagon, lit from above."""
    points = [(50, 4), (80, 20), (92, 97), (8, 97), (20, 20)]
    at = [(50 + (x - 50) * size, 97 + (y - 97) * size) for x, y in points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at) + "Z"
    if flat:
        return f'<path d="{path}" fill="#fdf1d3" stroke="#4a3616" stroke-width="2.6" stroke-linejoin="round"/>'
    return (
        '<defs><linearGradient id="w" x1="0" y1="0" x2=".35" y2="1">'
        '<stop offset="0" stop-color="#fff4d9"/><stop offset=".6" stop-color="#f8e2b4"/>'
        '<stop offset="1" stop-color="#e8c88c"/></linearGradient></defs>'
        f'<path d="{path}" fill="url(#w)" stroke="#6b4a1c" stroke-width="2.2" stroke-linejoin="round"/>'
    )


def svg(inner, gote, size):
    """The image, centered in its square."""
    up = f"translate(0 {-46.5 * (1 - size):.1f})"
    turn = f'<g transform="{"rotate(180 50 50) " if gote else ""}{up}">'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="100" height="100">'
        f"{turn}{inner}</g></svg>\n"
    )


def kanji(font, character, size, promoted, flat=False):
    height = 66 * size
    box = (50 - 29 * size, 97 - 8 * size - height, 58 * size, height)
    return body(size, flat) + f'<path d="{font.outline(character, box)}" fill="{RED if promoted else INK}"/>'


def brush(font, characters, size, promoted):
    """Two characters, of which the upper one is narrower, like the piece."""
    # The outlines of a brush have many points: they are drawn larger, with whole numbers.
    scale = 3
    top, bottom = 97 - 81 * size, 97 - 5 * size
    middle = (top + bottom) / 2
    boxes = [(top, middle - 1, 42), (middle + 1, bottom, 50)]
    if len(characters) == 1:
        boxes = [(top + 8 * size, bottom - 6 * size, 50)]
    paths = "".join(
        font.outline(
            character,
            tuple(value * scale for value in (50 - width * size / 2, upper, width * size, lower - upper)),
            stretch=True,
        )
        for character, (upper, lower, width) in zip(characters, boxes)
    )
    return body(size) + f'<path transform="scale({1 / scale:g})" d="{paths}" fill="{RED if promoted else INK}"/>'


def international(font, role, letter, size, promoted):
    """A letter, and around it what the piece can do: dots for steps, strokes for slides."""
    colour = RED if promoted else INK
    centre = (50, 97 - 42 * size)
    reach = 27 * size
    marks = []
    for x, y in STEPS[role]:
        fx = reach * x * (0.98 if y >= 0 else 0.86)
        marks.append(f'<circle cx="{centre[0] + fx:.1f}" cy="{centre[1] + reach * 1.12 * y:.1f}" r="{4.3 * size:.1f}"/>')
    for x, y in SLIDES.get(role, []):
        fx = x * (0.98 if y >= 0 else 0.86)
        near, far = 0.86, 1.2
        marks.append(
            f'<path d="M{centre[0] + reach * near * fx:.1f} {centre[1] + reach * near * 1.12 * y:.1f}'
            f'L{centre[0] + reach * far * fx:.1f} {centre[1] + reach * far * 1.12 * y:.1f}" '
            f'stroke="{colour}" stroke-width="{6 * size:.1f}" stroke-linecap="round"/>'
        )
    box = (centre[0] - 16 * size, centre[1] - 17 * size, 32 * size, 34 * size)
    return (
        body(size)
        + f'<g fill="{colour}"><path d="{font.outline(letter, box)}"/>'
        + "".join(marks)
        + "</g>"
    )


def japanese(path, name):
    return Font(next(font for font in TTCollection(path).fonts if font["name"].getDebugName(1) == name))


def main():
    serif, gothic = japanese(KANJI_FONT, "Noto Serif CJK JP"), japanese(GOTHIC_FONT, "Noto Sans CJK JP")
    brushes = Font(*(TTFont(path) for path in sorted(BRUSH_FONTS.glob("*.woff2"))), digits=0)
    letters = Font(TTFont(LETTER_FONT))
    for role, letter, character, size, promoted in PIECES:
        for gote in (False, True):
            # The lower-ranked player has the king with a dot more.
            is_upper_king = role == "king" and gote
            shown = "王" if is_upper_king else character
            full = "王将" if is_upper_king else FULL[role]
            pieces = {
                "kanji": kanji(serif, shown, size, promoted),
                "brush": brush(brushes, full, size, promoted),
                "gothic": kanji(gothic, shown, size, promoted, flat=True),
                "international": international(letters, role, letter, size, promoted),
            }
            for name, inner in pieces.items():
                folder = Path("public/pieces") / name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{'g' if gote else 's'}_{role}.svg").write_text(svg(inner, gote, size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
