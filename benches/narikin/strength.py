#!/usr/bin/env python3
"""How strong Narikin is at each limit of its strength: matches between its levels, and in chess against Stockfish.

Needs `narikin`, `readyok`, and for chess the Stockfish 15.1 of Debian:

    cargo build --release -p narikin
    cargo build --release -p readyok

Each level plays the next one, and in chess those that are near a rating of Stockfish play it. Nothing is limited by the
clock: a level of Narikin has its own number of positions, and Stockfish, which at a limited strength chooses its move
when the iteration of its level is complete, gets exactly that depth. So games are the same on a busy machine, and
Stockfish plays as it does at any longer time.

What Stockfish 15.1 calls its ratings was measured before it had networks. For version 16 its authors measured the same
levels anew, on the scale of the CCRL's blitz list; that is what its ratings are taken for here.

From all matches together the rating of each level follows by weighted least squares: in chess with Stockfish's ratings
as they are, in shogi with that of the level in the middle as it is. Matches are kept in a folder: what was interrupted goes
on, and with more `--games` what was played is added to. The tables are printed in Markdown.
"""

import argparse
import json
import math
import sys
from pathlib import Path

from matches import OPENINGS, ROOT, openings_of, pairs_of

# The levels that play: ratings, and kyu (below 0) and dan.
LEVELS = {
    "chess": [800, 1100, 1400, 1700, 2000, 2300, 2600, 2800],
    "shogi": [-15, -12, -9, -6, -3, 1, 4, 7, 9],
}

# The rating of 1 dan, and how much is between two ranks, as in `crates/narikin/src/skill.rs`.
FIRST_DAN = 2000
RANK = 100

# `UCI_Elo` of Stockfish 15.1, and how far from what it is worth a level may be that plays it.
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


def asked(game, level):
    """The rating that a level stands for. 1 dan follows 1 kyu."""
    if game == "chess":
        return level
    return FIRST_DAN + RANK * (level - 1 if level > 0 else level)


def narikin(arguments, game, level):
    """Narikin at a level: its name and its part of a plan. Its level says how many nodes it takes."""
    if game == "chess":
        name, options = f"narikin {level}", {"Hash": 16, "UCI_LimitStrength": "true", "UCI_Elo": level}
    else:
        name = f"narikin {-level} kyu" if level < 0 else f"narikin {level} dan"
        options = {"USI_Hash": 16, "USI_LimitStrength": "true", "USI_Strength": level}
    return name, engine(name, arguments.narikin, options, "nodes = 100000000")


def skill(elo):
    """The level at which Stockfish 15.1 plays with this `UCI_Elo`; see `Skill` in its `search.cpp`."""
    return min(max((elo - 1346.6) / 143.4, 0) ** (1 / 0.806), 19)


def worth(level):
    """The rating that Stockfish 16 has for a level: its `skill.h` has the level for a rating, which is turned round."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if ((37.2473 * middle - 40.8525) * middle + 22.2943) * middle - 0.311438 < level:
            low = middle
        else:
            high = middle
    return round(1320 + (3190 - 1320) * low)


def stockfish(arguments, elo):
    """Stockfish with a limit of its strength: its name and its part of a plan. It chooses a move at a depth that follows
    from its level."""
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
    """Plays a match, or what is left of it, and gives its pairs by their points."""
    name = f"{game}-{one[0]}-{other[0]}".replace(" ", "-")
    plan = arguments.folder / f"{name}.toml"
    results = arguments.folder / f"{name}.jsonl"
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
    """Elo, and its standard error. One pair more, of one point, keeps both finite."""
    pairs = [*pairs[:2], pairs[2] + 1, *pairs[3:]]
    count = sum(pairs)
    mean = sum(points / 4 * pairs[points] for points in range(5)) / count
    variance = sum((points / 4 - mean) ** 2 * pairs[points] for points in range(5)) / count
    # Few pairs may be all alike. They are no less uncertain than two independent games.
    variance = max(variance, mean * (1 - mean) / 4)
    slope = 400 / math.log(10) / (mean * (1 - mean))
    return -400 * math.log10(1 / mean - 1), slope * math.sqrt(variance / count)


def ratings(matches, fixed):
    """The ratings that suit all matches best, with standard errors; those of `fixed` are as they are."""
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
    """By Gauss and Jordan."""
    size = len(matrix)
    rows = [[*row, *(float(index == place) for place in range(size))] for index, row in enumerate(matrix)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda index: abs(rows[index][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for index in range(size):
            if index != place:
                factor = rows[index][place]
                rows[index] = [value - factor * unit for value, unit in zip(rows[index], rows[place])]
    return [row[size:] for row in rows]


def with_error(value, error):
    """With the error of 95 %."""
    return f"{value:+.0f} ± {1.96 * error:.0f}".replace("-", "−")


def table(arguments, game):
    levels = arguments.levels or LEVELS[game]
    known = {level: narikin(arguments, game, level) for level in levels}
    meetings = [
        (known[higher], known[lower], asked(game, higher) - asked(game, lower))
        for lower, higher in zip(levels, levels[1:])
    ]
    fixed = {}
    if game == "chess":
        for elo in arguments.stockfish_elo:
            opponent, rating = stockfish(arguments, elo), worth(skill(elo))
            near = [level for level in levels if abs(level - rating) <= arguments.near]
            meetings += [(known[level], opponent, level - rating) for level in near]
            if near:
                fixed[opponent[0]] = float(rating)
    print(f"| match of {game} | games | Elo asked for | Elo |\n|---|--:|--:|--:|")
    matches = []
    for one, other, wanted in meetings:
        pairs = play(arguments, game, one, other)
        elo, error = difference(pairs)
        matches.append((one[0], other[0], elo, error))
        row = f"| {one[0]} against {other[0]} | {2 * sum(pairs)} | {wanted:+} | {with_error(elo, error)} |"
        print(row.replace("-", "−"), flush=True)
    middle = levels[len(levels) // 2]
    fixed = fixed or {known[middle][0]: float(asked(game, middle))}
    found = ratings(matches, fixed)
    print(f"\n| level of {game} | asked for | measured |\n|---|--:|--:|")
    for level in levels:
        name = known[level][0]
        rating, error = found.get(name, (fixed.get(name, 0.0), 0.0))
        print(f"| {name} | {asked(game, level)} | {rating:.0f} ± {1.96 * error:.0f} |".replace("-", "−"))
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where matches are kept")
    parser.add_argument("--narikin", type=Path, default=ROOT / "target/release/narikin")
    parser.add_argument("--readyok", type=Path, default=ROOT / "target/release/readyok")
    parser.add_argument("--stockfish", type=Path, default=Path("/usr/games/stockfish"))
    parser.add_argument("--game", choices=OPENINGS, action="append", help="by default both")
    parser.add_argument("--levels", type=int, nargs="+", help="of one game, from the lowest up")
    parser.add_argument("--stockfish-elo", type=int, nargs="*", default=STOCKFISH, metavar="ELO", help="its `UCI_Elo`")
    parser.add_argument("--near", type=int, default=NEAR, help="how far from its rating a level may be")
    parser.add_argument("--games", type=int, default=100, help="of each match, if it has no more already")
    parser.add_argument("--concurrency", type=int, default=2)
    arguments = parser.parse_args()
    arguments.narikin = arguments.narikin.resolve()
    arguments.readyok = arguments.readyok.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for game in arguments.game or OPENINGS:
        table(arguments, game)


if __name__ == "__main__":
    sys.exit(main())
