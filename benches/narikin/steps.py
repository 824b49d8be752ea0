#!/usr/bin/env python3
"""What each step of Narikin's search brings: how many nodes it saves or costs, and a match with it against without it.

Needs a Narikin that can leave steps out, and `readyok`:

    cargo build --release -p narikin --features ablation
    cargo build --release -p readyok

Nodes are those of `narikin bench`, to a fixed depth. A match is played at fixed nodes, so that what a step costs in time
does not count, or with `--tc` by the clock. It ends when a sequential test has decided whether the step gains or loses, or
when all games are played. All of it is kept in a folder: what was interrupted goes on, and with more `--games` what was
played is added to. The tables are printed in Markdown.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

from matches import OPENINGS, ROOT, openings_of, pairs_of

# Steps in the order of docs/search.md. What a step is called is what NARIKIN_WITHOUT takes.
STEPS = {
    "aspiration-windows": "aspiration windows",
    "upcoming-repetition": "upcoming repetition",
    "mate-distance": "mate-distance pruning",
    "tt-cutoff": "cut by the hash table",
    "mate-in-one": "mate in one",
    "correction-history": "correction history",
    "reverse-futility": "reverse futility",
    "razoring": "razoring",
    "null-move": "null move",
    "null-move-verification": "null-move-verification of null moves",
    "probcut": "ProbCut",
    "killers": "killers",
    "butterfly-history": "butterfly history",
    "continuation-history": "continuation history",
    "capture-history": "capture history",
    "malus": "malus",
    "check-bonus": "bonus for checks",
    "late-move-pruning": "late-move pruning",
    "futility": "futility",
    "history-pruning": "history pruning",
    "see-pruning": "pruning by exchanges",
    "singular-extension": "singular extension, with all that follows from it",
    "double-extension": "double extension",
    "multicut": "multicut",
    "late-move-reductions": "late-move reductions",
    "alpha-raise-reduction": "one ply less after a better move was found",
    "delta-pruning": "delta pruning",
    "qsearch-move-limit": "one move late in the quiescence search",
    "qsearch-see": "exchanges in the quiescence search",
    "qsearch-checks": "quiet checks in the quiescence search",
    "root-mates": "mates by proof numbers at the root",
    "root-order": "the order of the root by nodes",
    "hindsight": "depth by what the last reduction came to",
    "triple-extension": "triple extension",
    "tt-capture-reduction": "larger reductions where the table has a capture",
    "cut-node-reduction": "larger reductions in cut nodes unknown to the table",
    "fail-low-bonus": "reward for the last move if nothing helps",
    "exact-bonus": "learning from best moves within the window",
    "fail-high-softening": "softer values above the window",
    "qsearch-futility": "no even trades far below the window",
    "drop-order": "drops that can be had come late",
}

# Steps that only one game has.
ONLY = {
    "upcoming-repetition": "chess",
    "null-move-verification": "chess",
    "butterfly-history": "shogi",
    "razoring": "chess",
    "mate-in-one": "shogi",
    "qsearch-checks": "shogi",
    "root-mates": "shogi",
    "drop-order": "shogi",
}

HASH = {"chess": "Hash", "shogi": "USI_Hash"}

# Of each move, unless told otherwise.
NODES = {"chess": 5000, "shogi": 4000}

PLAN = """\
game = {game}
rounds = {rounds}
seed = 1

[[engines]]
name = "with"
command = {narikin}
options = {{ {hash} = "16" }}
limits = {{ {limits} }}

[[engines]]
name = "without"
command = {narikin}
options = {{ {hash} = "16" }}
limits = {{ {limits} }}
env = {{ NARIKIN_WITHOUT = {step} }}

[openings]
order = "random"
source = {{ kind = "file", path = {openings} }}

[adjudication]
draw = {{ from_move = 40, moves = 6, score = 10 }}
resign = {{ moves = 4, score = 1000 }}

[sprt]
elo0 = {elo0}
elo1 = {elo1}
"""


def bench(narikin, game, step=""):
    """How many nodes the fixed positions of a game take, without a step."""
    environment = {**os.environ, "NARIKIN_WITHOUT": step}
    output = subprocess.run(
        [narikin, "bench", game], env=environment, capture_output=True, text=True, check=True
    ).stdout
    return int(re.search(r"Nodes searched\s*: (\d+)", output)[1])


def play(arguments, game, step):
    """Plays a match, or what is left of it, and gives its pairs by their points."""
    nodes = arguments.nodes or NODES[game]
    name = f"{game}-{step}-{arguments.tc or nodes}"
    plan = arguments.folder / f"{name}.toml"
    results = arguments.folder / f"{name}.jsonl"
    texts = {
        "game": game,
        "narikin": str(arguments.narikin),
        "step": step,
        "openings": openings_of(game),
    }
    plan.write_text(
        PLAN.format(
            **{key: json.dumps(text) for key, text in texts.items()},
            hash=HASH[game],
            rounds=max(arguments.games // 2, 1),
            limits=f'tc = "{arguments.tc}"' if arguments.tc else f"nodes = {nodes}",
            elo0=arguments.sprt[0],
            elo1=arguments.sprt[1],
        ),
        encoding="utf-8",
    )
    return pairs_of(arguments, plan, results)


def judge(arguments, pairs):
    """Elo with its error, and what the sequential test makes of it."""
    count = sum(pairs)
    shares = [(points / 4, pairs[points] / count) for points in range(5)]
    mean = sum(score * share for score, share in shares)
    variance = sum((score - mean) ** 2 * share for score, share in shares)
    error = 1.96 * math.sqrt(variance / count)

    def elo(score):
        return -400 * math.log10(1 / score - 1)

    if 0 < mean - error and mean + error < 1:
        strength = f"{round(elo(mean)) + 0:+} ± {(elo(mean + error) - elo(mean - error)) / 2:.0f}".replace("-", "−")
    else:
        strength = f"{100 * mean:.0f} % of the points"
    output = subprocess.run(
        [
            *(arguments.readyok, "elo", "--pairs", *map(str, pairs)),
            *("--sprt", ",".join(map(str, arguments.sprt))),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ratio = re.search(r"LLR +(-?[\d.]+) between (-?[\d.]+) and (-?[\d.]+)", output)
    llr, lower, upper = map(float, ratio.groups())
    verdict = "pays" if llr >= upper else "does not" if llr <= lower else "open"
    return strength, f"{llr:.2f}".replace("-", "−"), verdict


def table(arguments, game):
    before = bench(arguments.narikin, game)
    print(f"| step of {game} | nodes | games | Elo | LLR | verdict |\n|---|--:|--:|--:|--:|---|")
    for step in arguments.steps:
        if ONLY.get(step, game) != game:
            continue
        ratio = f"{before / bench(arguments.narikin, game, step):.2f}"
        pairs = play(arguments, game, step)
        print(f"| {STEPS[step]} | {ratio} | {2 * sum(pairs)} | {' | '.join(judge(arguments, pairs))} |", flush=True)


def bounds(text):
    elo0, elo1 = map(float, text.split(","))
    return elo0, elo1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where matches are kept")
    parser.add_argument("--narikin", type=Path, default=ROOT / "target/release/narikin")
    parser.add_argument("--readyok", type=Path, default=ROOT / "target/release/readyok")
    parser.add_argument("--game", choices=OPENINGS, action="append", help="by default both")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--nodes", type=int, help=f"of each move, by default {NODES}")
    limit.add_argument("--tc", help="clocks instead, like 1+0.01")
    parser.add_argument("--games", type=int, default=800, help="at most, of each match")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--sprt", type=bounds, default=(-20.0, 20.0), metavar="ELO0,ELO1", help="normalized Elo")
    arguments = parser.parse_args()
    arguments.narikin = arguments.narikin.resolve()
    arguments.readyok = arguments.readyok.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for game in arguments.game or OPENINGS:
        table(arguments, game)


if __name__ == "__main__":
    sys.exit(main())
