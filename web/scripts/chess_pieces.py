#!/usr/bin/env python3
"""Draws the chess pieces of the sets "simple", "staunton", "figurine" and "letters".

Needs fonttools and DejaVu Sans for the outlines of the last two. Run from `web/`: `python3 scripts/chess_pieces.py`.
"""

from pathlib import Path

from fontTools.pens.areaPen import AreaPen
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import RecordingPen as Recording
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

FONTS = Path("/usr/share/fonts/truetype/dejavu")
LETTERS = "KQRBNP"


def image(inner: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45">{inner}</svg>\n'


# Flat silhouettes of basic shapes.

BASE = "M11 39h23l-2-6H13z"
SHAPES = {
    "P": ["M22.5 9a6 6 0 0 1 3.7 10.7h2.3v3h-2.2q1 6.3 5 10.3H13.7q4-4 5-10.3h-2.2v-3h2.3A6 6 0 0 1 22.5 9z"],
    "R": ["M12 8h5v4h3.4V8h4.2v4H28V8h5v9l-3.5 3v10l2.5 3H13l2.5-3V20L12 17z"],
    "N": ["M14 33q0-7 5-12l-1-1.5-5 4q-3 .8-4-3l6-8 1-5.5 4 2.5Q33 10 33 24v9z"],
    "B": ["M22.5 6a2.6 2.6 0 0 1 1.5 4.7Q31 16 31 22.5q0 4-3.5 6.5l2 4h-14l2-4Q14 26.500 14 22.500q0-6.500 7-11.800A2.600 2.600 0 0 1 22.500 6z"],
    "Q": ["M7 13l6 6 1.500-10 5 9.500 3-11.500 3 11.500 5-9.500L32 19l6-6-5.500 20h-20z"],
    "K": ["M21 5h3v3h3v3h-3v4q12-3 12 6 0 6-6.500 12h-14Q9 27 9 21q0-9 12-6v-4h-3V8h3z"],
}
#: Lines in the color of the other side.
DETAILS = {
    "P": "",
    "R": "M15.5 20h14M15.5 30h14",
    "N": "M18.5 15.5h.01M29 24v9",
    "B": "M22.500 15v8M18.500 19h8M17.500 29h10",
    "Q": "M13 28.500h19",
    "K": "M22.500 15v13M14 29h17",
}
COLORS = {"w": ("#fcfbf6", "#23221f"), "b": ("#33322e", "#f1eee4")}
OUTLINE = {"w": "#23221f", "b": "#0f0e0d"}


def simple(color: str, letter: str) -> str:
    fill, detail = COLORS[color]
    outline = OUTLINE[color]
    shapes = "".join(f'<path d="{path}"/>' for path in [*SHAPES[letter], BASE])
    lines = DETAILS[letter]
    inner = (
        f'<path d="{lines}" fill="none" stroke="{detail}" stroke-width="1.6" stroke-linecap="round"/>'
        if lines
        else ""
    )
    return image(
        f'<g fill="{fill}" stroke="{outline}" stroke-width="1.5" stroke-linejoin="round">{shapes}</g>{inner}'
    )


# Turned pieces in the style of Staunton, lit from the left.

MIDDLE = 22.5


def plate(top: float, bottom: float, radius: float) -> str:
    height = bottom - top
    return (
        f'<rect x="{MIDDLE - radius:g}" y="{top:g}" width="{2 * radius:g}" height="{height:g}" '
        f'rx="{min(1.4, height / 2):g}"/>'
    )


def stem(top: float, upper: float, bottom: float, lower: float) -> str:
    """A concave shaft."""
    left, right = MIDDLE - upper, MIDDLE + upper
    bend = bottom - 0.22 * (bottom - top)
    return (
        f'<path d="M{left:g} {top:g}Q{left - 0.2:g} {bend:g} {MIDDLE - lower:g} {bottom:g}H{MIDDLE + lower:g}'
        f'Q{right + 0.2:g} {bend:g} {right:g} {top:g}z"/>'
    )


def ball(y: float, radius: float) -> str:
    return f'<circle cx="{MIDDLE}" cy="{y:g}" r="{radius:g}"/>'


def path(data: str) -> str:
    return f'<path d="{data}"/>'


TURNED = {
    "P": [ball(14.6, 5.4), stem(21, 3.1, 36, 7.4), plate(19.2, 21.8, 5.8), plate(35.6, 39.6, 9.6)],
    "R": [
        stem(17, 6.2, 36, 8.8),
        path("M12.3 7.5h4.5v3.2h3.4V7.5h4.6v3.2h3.4V7.5h4.500v7.300l-2.600 2.900H14.900l-2.600-2.900z"),
        plate(33, 36, 9.4),
        plate(35.8, 39.6, 11.4),
    ],
    "N": [
        path(
            "M13.200 36C13.400 29.600 18.600 27.400 18.900 22.400L14.300 24.600C12.600 27 8.800 25.300 9.600 22.200"
            "L14.900 12.900 15 7.200 19.600 10.300C29 9.900 34.200 18.600 32 36z"
        ),
        plate(35.6, 39.6, 11.2),
    ],
    "B": [
        path("M22.500 7.200C29.400 11.200 30.200 17.400 26.700 22h-8.400C14.800 17.400 15.600 11.200 22.500 7.200z"),
        ball(6, 1.9),
        stem(23.6, 3.3, 36, 7.8),
        plate(21.6, 24.2, 6.8),
        plate(35.6, 39.6, 10.4),
    ],
    "Q": [
        path("M12.600 8.600l4 3.700 2.300-5 3.600 4.300 3.600-4.300 2.300 5 4-3.700-3.900 10.400h-12z"),
        ball(5.900, 2.1),
        stem(20.400, 3.9, 36, 8.800),
        plate(18.200, 21, 7.4),
        plate(33, 35.900, 9.2),
        plate(35.600, 39.600, 11.6),
    ],
    "K": [
        path("M21.200 2.600h2.600v2.500h2.600v2.500h-2.600v3.200h-2.600V7.600h-2.600V5.100h2.600z"),
        path("M14.600 10.900Q22.500 7.700 30.400 10.900L27.600 18.400H17.400z"),
        stem(20.400, 4.1, 36, 9),
        plate(18, 21, 7.6),
        plate(33, 35.900, 9.4),
        plate(35.600, 39.600, 11.800),
    ],
}
TURNED_LINES = {"N": "M17.4 14.600h.01M22.400 12.800Q28.600 17.600 27.800 32", "B": "M24.300 10.800l-3.200 5.600"}
#: Left, middle and right of the wood, its edge, and lines on it.
WOOD = {
    "w": ("#fdf3dc", "#f3dfb6", "#c9a568", "#4a3314", "#6b4c20"),
    "b": ("#7b6a60", "#463a33", "#221b17", "#0d0a08", "#d9c8b8"),
}


def staunton(color: str, letter: str) -> str:
    light, middle, dark, edge, line = WOOD[color]
    lines = TURNED_LINES.get(letter, "")
    detail = (
        f'<path d="{lines}" fill="none" stroke="{line}" stroke-width="1.5" stroke-linecap="round"/>' if lines else ""
    )
    gradient = f"wood-{color}"
    return image(
        f'<defs><linearGradient id="{gradient}" gradientUnits="userSpaceOnUse" x1="10" y1="0" x2="35" y2="0">'
        f'<stop offset="0" stop-color="{middle}"/><stop offset=".35" stop-color="{light}"/>'
        f'<stop offset=".6" stop-color="{middle}"/><stop offset="1" stop-color="{dark}"/></linearGradient></defs>'
        f'<g fill="url(#{gradient})" stroke="{edge}" stroke-width="1.2" stroke-linejoin="round">'
        f'{"".join(TURNED[letter])}</g>{detail}'
    )


# Outlines of characters.


class Characters:
    def __init__(self, font: str) -> None:
        font = TTFont(FONTS / font)
        self.glyphs = font.getGlyphSet()
        self.names = font.getBestCmap()

    def contours(
        self, character: str, box: tuple[float, float, float, float], measured: str = ""
    ) -> list[tuple[float, str]]:
        """The contours of a character with their signed areas. `measured`, or itself, fills the box (x, y, width, height)."""
        glyph = self.glyphs[self.names[ord(character)]]
        bounds = BoundsPen(self.glyphs)
        self.glyphs[self.names[ord(measured or character)]].draw(bounds)
        left, bottom, right, top = bounds.bounds
        x, y, width, height = box
        scale = min(width / (right - left), height / (top - bottom))
        dx = x + (width - scale * (right - left)) / 2 - scale * left
        # The characters stand on the lower edge.
        dy = y + height + scale * bottom
        recorded = Recording()
        glyph.draw(TransformPen(recorded, (scale, 0, 0, -scale, dx, dy)))
        contours: list[list[tuple]] = []
        for command in recorded.value:
            if command[0] == "moveTo":
                contours.append([])
            contours[-1].append(command)
        found = []
        for contour in contours:
            target, area = SVGPathPen(None, ntos=lambda v: f"{v:.1f}".rstrip("0").rstrip(".")), AreaPen()
            for name, points in contour:
                getattr(target, name)(*points)
                getattr(area, name)(*points)
            found.append((area.value, target.getCommands()))
        return found


#: Sizes of the characters, by the height of a king.
HEIGHTS = {"K": 37, "Q": 36, "R": 32, "B": 36, "N": 34, "P": 30}


def figurine(characters: Characters, color: str, letter: str) -> str:
    """A character of the print of diagrams, whose body is filled."""
    code = ("♔♕♖♗♘♙" if color == "w" else "♚♛♜♝♞♟")[LETTERS.index(letter)]
    height = HEIGHTS[letter]
    contours = characters.contours(code, (3, 40 - height, 39, height))
    outer = max(contours, key=lambda contour: abs(contour[0]))[0]
    body = "".join(data for area, data in contours if area * outer > 0)
    # Black pieces have a light edge on dark squares.
    edge = '' if color == "w" else ' stroke="#fff" stroke-width="1.6" stroke-linejoin="round"'
    ink = "".join(data for _, data in contours)
    return image(f'<path d="{body}" fill="#fff"{edge}/><path d="{ink}" fill="#111"/>')


def letters(characters: Characters, color: str, letter: str) -> str:
    """The letter of the notation on a disc."""
    fill, ink, edge = ("#fffdf7", "#1d1c19", "#1d1c19") if color == "w" else ("#2b2a27", "#ffffff", "#050505")
    outline = "".join(data for _, data in characters.contours(letter, (11, 12.5, 23, 20), "O" if letter == "Q" else ""))
    disc = f'<circle cx="22.5" cy="22.5" r="18" fill="{fill}" stroke="{edge}" stroke-width="1.8"/>'
    ring = f'<circle cx="22.5" cy="22.5" r="15.6" fill="none" stroke="{ink}" stroke-width=".8" opacity=".55"/>'
    return image(f'{disc}{ring}<path d="{outline}" fill="{ink}"/>')


def main() -> None:
    figures, text = Characters("DejaVuSans.ttf"), Characters("DejaVuSans-Bold.ttf")
    sets = {
        "simple": simple,
        "staunton": staunton,
        "figurine": lambda color, letter: figurine(figures, color, letter),
        "letters": lambda color, letter: letters(text, color, letter),
    }
    for name, draw in sets.items():
        folder = Path("public/pieces") / name
        folder.mkdir(parents=True, exist_ok=True)
        for color in COLORS:
            for letter in LETTERS:
                (folder / f"{color}{letter}.svg").write_text(draw(color, letter), encoding="utf-8")


if __name__ == "__main__":
    main()
