#!/usr/bin/env python3
"""Makes the font of the page: a subset of the variable font Inter with the weights 400 to 700.

Needs fonttools and brotli. Run from `web/`: `npm pack inter-ui@4.1.1`, unpack, and
`python3 scripts/font.py FOLDER_OF_THE_PACKAGE`.
"""

import shutil
import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

#: Latin, Latin-1, Extended-A and B, Extended Additional; combining marks; Greek for names of engines' parameters.
BLOCKS = [(0x20, 0x7E), (0xA0, 0x24F), (0x2B0, 0x2DD), (0x300, 0x331), (0x391, 0x3C9), (0x1E00, 0x1EFF)]
#: General punctuation, currencies, letters such as №, fractions, arrows, mathematics, technical signs, shapes.
BLOCKS += [(0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20BF), (0x2100, 0x218B), (0x2190, 0x21FF)]
BLOCKS += [(0x2200, 0x22FF), (0x2318, 0x2327), (0x232B, 0x232B), (0x23CE, 0x23CF), (0x25A0, 0x25FF), (0x2605, 0x2606)]
BLOCKS += [(0x2713, 0x2717)]
FEATURES = ["ccmp", "locl", "kern", "mark", "mkmk", "tnum", "case", "frac", "cv11", "zero"]

TABULAR = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TABULAR += ["plus", "minus", "plusminus"]


def limit_tabular(font: TTFont) -> None:
    """Tabular figures replace digits and signs only: spaces and punctuation keep their widths."""
    table = font["GSUB"].table
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag != "tnum":
            continue
        for index in record.Feature.LookupListIndex:
            for part in table.LookupList.Lookup[index].SubTable:
                mapping = getattr(part, "ExtSubTable", part).mapping
                for name in [name for name in mapping if name not in TABULAR]:
                    del mapping[name]


def main() -> None:
    package, out = Path(sys.argv[1]), Path("public/fonts")
    font = TTFont(package / "variable" / "InterVariable.woff2")
    options = Options()
    options.flavor = "woff2"
    options.layout_features = FEATURES
    options.hinting = False
    subset = Subsetter(options)
    subset.populate(unicodes=[code for first, last in BLOCKS for code in range(first, last + 1)])
    subset.subset(font)
    limit_tabular(font)
    # Texts are small: the optical size for displays is not needed.
    font = instantiateVariableFont(font, {"opsz": 14, "wght": (400, 700)})
    font.flavor = "woff2"
    # The same input gives the same file.
    font.recalcTimestamp = False
    out.mkdir(parents=True, exist_ok=True)
    font.save(out / "inter.woff2")
    shutil.copy(package / "LICENSE.txt", out / "inter-license.txt")


if __name__ == "__main__":
    main()
