#!/usr/bin/env python3
"""Measures the limited strength of Narikin by matches between its levels, and in chess against Stockfish.

Needs `narikin`, `readyok`, and for chess the Stockfish 15.1 of Debian:

    cargo build --release -p narikin
    cargo build --release -p readyok

Each level plays the next one, and in chess also levels of Stockfish with a similar rating. Games have no clock: a level of
Narikin has a node limit. Stockfish gets the depth at which its limited strength selects a move, so more time would not
change its moves. Games are therefore the same on a host under load.

The ratings of Stockfish 15.1 were calibrated before it had networks. For version 16 its authors calibrated the same levels
again on the CCRL Blitz scale, which is used here.

The ratings of all levels follow by weighted least squares. The ratings of Stockfish are fixed in chess, and that of the
middle level in shogi. Matches are stored in a directory: interrupted ones are resumed, and a larger `--games` extends them.
The tables are printed in Markdown.
"""

import argparse
import json
import math
import sys
from pathlib import Path

from matches import OPENINGS, ROOT, openings_of, pairs_of

# The levels: ratings in chess; kyu (negative) and dan in shogi.
LEVELS = {
    "chess": [800, 1100, 1400, 1700, 2000, 2300, 2600, 2800],
    "shogi": [-15, -12, -9, -6, -3, 1, 4, 7, 9],
}

# The rating of 1 dan, and the distance of two ranks, as in `crates/narikin/src/skill.rs`.
FIRST_DAN = 2000
RANK = 100

# `UCI_Elo` of Stockfish 15.1, and the maximum rating difference of an opponent.
STOCKFISH = [1400, 1700, 1850, 2000, 2150, 2250, 2300]
NEAR = 200

PLAN = """\
game = {game}
rounds = {rounds}
seed = 1
{engines}
[openings]
order = "random"
source = {{ kind = "file", path = {openings} }}

[adjudication]
draw = {{ from_move = 40, moves = 6, score = 10 }}
resign = {{ moves = 4, score = 1000 }}
"""

ENGINE = """
[[engines]]
name = {name}
command = {command}
options = {{ {options} }}
limits = {{ {limits} }}
"""


def nominal_rating(game, level):
    """The nominal rating of a level. 1 dan follows 1 kyu."""
    if game == "chess":
        return level
    return FIRST_DAN + RANK * (level - 1 if level > 0 else level)


def narikin(arguments, game, level):
    """Narikin at a level: its name and its part of a plan. The level determines its nodes."""
    if game == "chess":
        name, options = f"narikin {level}", {"Hash": 16, "UCI_LimitStrength": "true", "UCI_Elo": level}
    else:
        name = f"narikin {-level} kyu" if level < 0 else f"narikin {level} dan"
        options = {"USI_Hash": 16, "USI_LimitStrength": "true", "USI_Strength": level}
    return name, engine(name, arguments.narikin, options, "nodes = 100000000")


def skill(elo):
    """The level at which Stockfish 15.1 plays with this `UCI_Elo`; see `Skill` in its `search.cpp`."""
    return min(max((elo - 1346.6) / 143.4, 0) ** (1 / 0.806), 19)


def stockfish_rating(level):
    """The rating of a level of Stockfish 16. Inverts the function in its `skill.h`, which returns the level of a rating."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if ((37.2473 * middle - 40.8525) * middle + 22.2943) * middle - 0.311438 < level:
            low = middle
        else:
            high = middle
    return round(1320 + (3190 - 1320) * low)


def stockfish(arguments, elo):
    """Stockfish with limited strength: its name and its part of a plan. Its level determines the depth of its move."""
    name = f"stockfish {elo}"
    options = {"Hash": 16, "UCI_LimitStrength": "true", "UCI_Elo": elo}
    return name, engine(name, arguments.stockfish, options, f"depth = {1 + int(skill(elo))}")


def engine(name, command, options, limits):
    return ENGINE.format(
        name=json.dumps(name),
        command=json.dumps(str(command)),
        options=", ".join(f"{json.dumps(key)} = {json.dumps(str(value))}" for key, value in options.items()),
        limits=limits,
    )


def play(arguments, game, one, other):
    """Plays or resumes a match. Returns the numbers of game pairs by half points."""
    name = f"{game}-{one[0]}-{other[0]}".replace(" ", "-")
    plan = arguments.directory / f"{name}.toml"
    results = arguments.directory / f"{name}.jsonl"
    rounds = max(arguments.games // 2, 1)
    if results.exists():
        heads = [record["head"] for record in map(json.loads, results.open(encoding="utf-8")) if "head" in record]
        rounds = max(rounds, *(head["plan"]["rounds"] for head in heads))
    plan.write_text(
        PLAN.format(
            game=json.dumps(game),
            rounds=rounds,
            engines=one[1] + other[1],
            openings=json.dumps(openings_of(game)),
        ),
        encoding="utf-8",
    )
    return pairs_of(arguments, plan, results)


def difference(pairs):
    """Elo and its standard error. An additional drawn pair keeps both finite."""
    pairs = [*pairs[:2], pairs[2] + 1, *pairs[3:]]
    count = sum(pairs)
    mean = sum(points / 4 * pairs[points] for points in range(5)) / count
    variance = sum((points / 4 - mean) ** 2 * pairs[points] for points in range(5)) / count
    # A few pairs can be identical, but their variance is at least that of two independent games.
    variance = max(variance, mean * (1 - mean) / 4)
    slope = 400 / math.log(10) / (mean * (1 - mean))
    return -400 * math.log10(1 / mean - 1), slope * math.sqrt(variance / count)


def ratings(matches, fixed):
    """The least-squares ratings of all matches with standard errors. Those in `fixed` are constant."""
    names = sorted({name for one, other, *_ in matches for name in (one, other)} - fixed.keys())
    size = len(names)
    matrix = [[0.0] * size for _ in names]
    column = [0.0] * size
    for one, other, elo, error in matches:
        weight = error**-2
        parts = [(one, 1), (other, -1)]
        known = sum(sign * fixed[name] for name, sign in parts if name in fixed)
        free = [(names.index(name), sign) for name, sign in parts if name not in fixed]
        for row, sign in free:
            column[row] += weight * sign * (elo - known)
            for other_row, other_sign in free:
                matrix[row][other_row] += weight * sign * other_sign
    inverse = inverted(matrix)
    return {
        name: (sum(map(lambda a, b: a * b, inverse[row], column)), math.sqrt(inverse[row][row]))
        for row, name in enumerate(names)
    }


def inverted(matrix):
    """The inverse, by Gauss-Jordan elimination."""
    size = len(matrix)
    rows = [[*row, *(float(index == pivot_row) for pivot_row in range(size))] for index, row in enumerate(matrix)]
    for pivot_row in range(size):
        pivot = max(range(pivot_row, size), key=lambda index: abs(rows[index][pivot_row]))
        rows[pivot_row], rows[pivot] = rows[pivot], rows[pivot_row]
        rows[pivot_row] = [value / rows[pivot_row][pivot_row] for value in rows[pivot_row]]
        for index in range(size):
            if index != pivot_row:
                factor = rows[index][pivot_row]
                rows[index] = [value - factor * unit for value, unit in zip(rows[index], rows[pivot_row])]
    return [row[size:] for row in rows]


def with_error(value, error):
    """A value with its 95 % error."""
    return f"{value:+.0f} ± {1.96 * error:.0f}".replace("-", "−")


def table(arguments, game):
    levels = arguments.levels or LEVELS[game]
    known = {level: narikin(arguments, game, level) for level in levels}
    encounters = [
        (known[higher], known[lower], nominal_rating(game, higher) - nominal_rating(game, lower))
        for lower, higher in zip(levels, levels[1:])
    ]
    fixed = {}
    if game == "chess":
        for elo in arguments.stockfish_elo:
            opponent, rating = stockfish(arguments, elo), stockfish_rating(skill(elo))
            near = [level for level in levels if abs(level - rating) <= arguments.near]
            encounters += [(known[level], opponent, level - rating) for level in near]
            if near:
                fixed[opponent[0]] = float(rating)
    print(f"| match of {game} | games | requested Elo difference | Elo |\n|---|--:|--:|--:|")
    matches = []
    for one, other, expected in encounters:
        pairs = play(arguments, game, one, other)
        elo, error = difference(pairs)
        matches.append((one[0], other[0], elo, error))
        row = f"| {one[0]} against {other[0]} | {2 * sum(pairs)} | {expected:+} | {with_error(elo, error)} |"
        print(row.replace("-", "−"), flush=True)
    middle = levels[len(levels) // 2]
    fixed = fixed or {known[middle][0]: float(nominal_rating(game, middle))}
    found = ratings(matches, fixed)
    print(f"\n| level of {game} | nominal | measured |\n|---|--:|--:|")
    for level in levels:
        name = known[level][0]
        rating, error = found.get(name, (fixed.get(name, 0.0), 0.0))
        print(f"| {name} | {nominal_rating(game, level)} | {rating:.0f} ± {1.96 * error:.0f} |".replace("-", "−"))
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="directory of the matches")
    parser.add_argument("--narikin", type=Path, default=ROOT / "target/release/narikin")
    parser.add_argument("--readyok", type=Path, default=ROOT / "target/release/readyok")
    parser.add_argument("--stockfish", type=Path, default=Path("/usr/games/stockfish"))
    parser.add_argument("--game", choices=OPENINGS, action="append", help="default: both")
    parser.add_argument("--levels", type=int, nargs="+", help="levels of one game, in ascending order")
    parser.add_argument("--stockfish-elo", type=int, nargs="*", default=STOCKFISH, metavar="ELO", help="values of `UCI_Elo`")
    parser.add_argument("--near", type=int, default=NEAR, help="maximum rating difference of an opponent")
    parser.add_argument("--games", type=int, default=100, help="minimum number of games per match")
    parser.add_argument("--concurrency", type=int, default=2)
    arguments = parser.parse_args()
    arguments.narikin = arguments.narikin.resolve()
    arguments.readyok = arguments.readyok.resolve()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for game in arguments.game or OPENINGS:
        table(arguments, game)


if __name__ == "__main__":
    sys.exit(main())
