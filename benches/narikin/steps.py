#!/usr/bin/env python3
"""Measures each step of Narikin's search: its effect on node counts, and a match with the step against without it.

Needs a build of Narikin that can disable steps, and `readyok`:

    cargo build --release -p narikin --features ablation
    cargo build --release -p readyok

Node counts are those of `narikin bench` at a fixed depth. Matches have a fixed number of nodes per move, so the time of a
step does not count, or a clock with `--tc`. A match ends with the decision of the SPRT or after all games. Matches are
stored in a directory: interrupted ones are resumed, and a larger `--games` extends them. The tables are printed in Markdown.
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

# Steps in the order of crates/narikin/docs/search.md, with their names in NARIKIN_WITHOUT.
STEPS = {
    "aspiration-windows": "aspiration windows",
    "upcoming-repetition": "upcoming repetition",
    "mate-distance": "mate distance pruning",
    "tt-cutoff": "TT cutoffs",
    "mate-in-one": "mate in one",
    "correction-history": "correction history",
    "reverse-futility": "reverse futility pruning",
    "razoring": "razoring",
    "null-move": "null move pruning",
    "null-move-verification": "null move verification",
    "probcut": "ProbCut",
    "killers": "killers",
    "butterfly-history": "butterfly history",
    "threat-history": "threats in butterfly history",
    "continuation-history": "continuation history",
    "capture-history": "capture history",
    "malus": "malus",
    "check-bonus": "bonus for checks",
    "late-move-pruning": "late-move pruning",
    "futility": "futility",
    "history-pruning": "history pruning",
    "see-pruning": "SEE pruning",
    "singular-extension": "singular extension, with double extension and multicut",
    "double-extension": "double extension",
    "multicut": "multicut",
    "late-move-reductions": "late-move reductions",
    "alpha-raise-reduction": "reduction after an alpha improvement",
    "delta-pruning": "delta pruning",
    "qsearch-move-limit": "move limit late in the quiescence search",
    "qsearch-see": "SEE in the quiescence search",
    "qsearch-checks": "quiet checks in the quiescence search",
    "root-mates": "df-pn mate search at the root",
    "root-order": "root move ordering by nodes",
    "hindsight": "hindsight depth adjustment",
    "triple-extension": "triple extension",
    "tt-capture-reduction": "larger reductions if the TT move is a capture",
    "cut-node-reduction": "larger reductions in cut nodes without a TT move",
    "fail-low-bonus": "bonus for the opponent's move on fail-low",
    "exact-bonus": "history updates by exact best moves",
    "fail-high-softening": "fail-high score blending",
    "qsearch-futility": "no even trades far below alpha",
    "thread-vote": "vote of threads",
    "drop-order": "late ordering of drops on attacked squares",
}

# Steps of one game only.
ONLY = {
    "upcoming-repetition": "chess",
    "null-move-verification": "chess",
    "threat-history": "chess",
    "razoring": "chess",
    "mate-in-one": "shogi",
    "qsearch-checks": "shogi",
    "root-mates": "shogi",
    "drop-order": "shogi",
}

HASH = {"chess": "Hash", "shogi": "USI_Hash"}

# The default nodes per move.
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
    """The node count of the benchmark of a game without a step."""
    environment = {**os.environ, "NARIKIN_WITHOUT": step}
    output = subprocess.run(
        [narikin, "bench", game], env=environment, capture_output=True, text=True, check=True
    ).stdout
    return int(re.search(r"Nodes searched\s*: (\d+)", output)[1])


def play(arguments, game, step):
    """Plays or resumes a match. Returns the numbers of game pairs by half points."""
    nodes = arguments.nodes or NODES[game]
    name = f"{game}-{step}-{arguments.tc or nodes}"
    plan = arguments.directory / f"{name}.toml"
    results = arguments.directory / f"{name}.jsonl"
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
    """Elo with its error, and the LLR and verdict of the SPRT."""
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
    verdict = "gain" if llr >= upper else "loss" if llr <= lower else "inconclusive"
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
    parser.add_argument("directory", type=Path, help="directory of the matches")
    parser.add_argument("--narikin", type=Path, default=ROOT / "target/release/narikin")
    parser.add_argument("--readyok", type=Path, default=ROOT / "target/release/readyok")
    parser.add_argument("--game", choices=OPENINGS, action="append", help="default: both")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--nodes", type=int, help=f"nodes per move (default: {NODES})")
    limit.add_argument("--tc", help="time control instead of nodes, such as 1+0.01")
    parser.add_argument("--games", type=int, default=800, help="maximum number of games per match")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--sprt", type=bounds, default=(-20.0, 20.0), metavar="ELO0,ELO1", help="normalized Elo")
    arguments = parser.parse_args()
    arguments.narikin = arguments.narikin.resolve()
    arguments.readyok = arguments.readyok.resolve()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for game in arguments.game or OPENINGS:
        table(arguments, game)


if __name__ == "__main__":
    sys.exit(main())
