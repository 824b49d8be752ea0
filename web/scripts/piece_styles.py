#!/usr/bin/env python3
"""Writes `src/styles/pieces.css`: the images of the pieces by set. Run from `web/`: `python3 scripts/piece_styles.py`."""

from pathlib import Path

CHESS = {"P": "pawn", "N": "knight", "B": "bishop", "R": "rook", "Q": "queen", "K": "king"}

HEAD = """/*
 * The images of the pieces by set: written by scripts/piece_styles.py. Browsers load those of the selected sets only.
 * See LICENSES.md.
 */
"""


def rule(selector: str, image: str) -> str:
    return f"{selector} {{\n  background-image: url('/{image}');\n}}\n"


def main() -> None:
    rules = []
    for folder in sorted(Path("public/pieces").iterdir()):
        for file in sorted(folder.iterdir()):
            image = file.relative_to("public")
            if file.stem.startswith(("s_", "g_")):
                side, role = ("sente" if file.stem[0] == "s" else "gote"), file.stem[2:]
                rules.append(rule(f"[data-shogi='{folder.name}'] piece.{side}.{role}", str(image)))
            else:
                side, role = ("white" if file.stem[0] == "w" else "black"), CHESS[file.stem[1]]
                rules.append(rule(f"[data-chess-pieces='{folder.name}'] piece.{side}.{role}", str(image)))
    Path("src/styles/pieces.css").write_text("\n".join([HEAD.rstrip("\n"), *rules]), encoding="utf-8")


if __name__ == "__main__":
    main()
