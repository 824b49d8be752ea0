"""Draws the chess pieces of the set "simple": flat silhouettes of basic shapes. Run in `web`."""

from pathlib import Path

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


def draw(color: str, letter: str) -> str:
    fill, detail = COLORS[color]
    outline = OUTLINE[color]
    shapes = "".join(f'<path d="{path}"/>' for path in [*SHAPES[letter], BASE])
    lines = DETAILS[letter]
    inner = (
        f'<path d="{lines}" fill="none" stroke="{detail}" stroke-width="1.6" stroke-linecap="round"/>'
        if lines
        else ""
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45">'
        f'<g fill="{fill}" stroke="{outline}" stroke-width="1.5" stroke-linejoin="round">{shapes}</g>{inner}</svg>\n'
    )


def main() -> None:
    folder = Path("public/pieces/simple")
    folder.mkdir(parents=True, exist_ok=True)
    for color in COLORS:
        for letter in SHAPES:
            (folder / f"{color}{letter}.svg").write_text(draw(color, letter), encoding="utf-8")


if __name__ == "__main__":
    main()
