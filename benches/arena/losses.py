#!/usr/bin/env python3
"""Compares the losses on time of `readyok match` and fastchess on a loaded host.

    scripts/install-match-peers.sh
    cargo build --release -p readyok
    benches/arena/losses.py [--load N] [--blocks N] [--games N] [--tc TC] [--pin] [--concurrency N] [--seed N]
                            [--readyok PATH] [--other PATH] [--fastchess PATH] [--stockfish PATH]

Stockfish plays against itself while N busy processes (--load) compete for the CPUs. A block is a match of each runner; the
order within a block is random. Losses on time cluster, so games are not independent: the unit of the test is the block. It
is a permutation test of the differences of a block: under the null hypothesis, both runners are exchangeable within each
block, so the sign of each difference is random. All signs are enumerated up to 16 blocks; otherwise 100,000 are drawn.

--pin gives each game a CPU of its own (`readyok match --pin`, `fastchess -use-affinity`). --other PATH compares with another
build of Readyok instead of fastchess.
"""

import argparse
import itertools
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

from compare import PEERS, ROOT, fastchess, measure, ours

MAX_EXACT_BLOCKS = 16
SAMPLES = 100_000


def p_value(differences, generator):
    """The two-sided p-value of the mean difference of paired blocks.

    >>> p_value([1] * 8, random.Random(1)) == 2 / 2**8
    True
    >>> p_value([1, -1, 0], random.Random(1))
    1.0
    """
    observed = abs(sum(differences))
    # Equal blocks have no sign.
    sizes = [abs(difference) for difference in differences if difference]
    if len(sizes) <= MAX_EXACT_BLOCKS:
        sums = [sum(sign * size for sign, size in zip(signs, sizes))
                for signs in itertools.product([1, -1], repeat=len(sizes))]
        return sum(abs(total) >= observed for total in sums) / len(sums)
    extreme = sum(abs(sum(size if generator.random() < 0.5 else -size for size in sizes)) >= observed
                  for _ in range(SAMPLES))
    # The observed signs are one of the samples.
    return (extreme + 1) / (SAMPLES + 1)


def start_load(count):
    """Starts busy processes with the priority of the matches."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    program = {"type": os.path.abspath}
    parser.add_argument("--load", type=int, default=2 * os.cpu_count(), metavar="N", help="busy processes")
    parser.add_argument("--blocks", type=int, default=24, metavar="N")
    parser.add_argument("--games", type=int, default=10, metavar="N", help="games of each runner in a block")
    parser.add_argument("--tc", default="0.1+0.01", help="time control")
    parser.add_argument("--pin", action="store_true", help="one CPU for each game")
    parser.add_argument("--concurrency", type=int, default=2, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the order in the blocks")
    parser.add_argument("--readyok", default=ROOT / "target/release/readyok", **program)
    parser.add_argument("--other", **program, help="another build of Readyok instead of fastchess")
    parser.add_argument("--fastchess", default=PEERS["fastchess"], **program)
    parser.add_argument("--stockfish", default="/usr/games/stockfish", **program)
    arguments = parser.parse_args()

    case = {"engines": [arguments.stockfish] * 2, "options": ["Hash=1"], "lines": 0, "order": "sequential",
            "limit": {"tc": arguments.tc}, "rounds": max(arguments.games // 2, 1), "pin": arguments.pin,
            "concurrency": arguments.concurrency}
    runners = {"readyok": ours}
    if arguments.other:
        runners["other build"] = lambda case, directory: ours({**case, "runner": arguments.other}, directory)
    else:
        runners["fastchess"] = lambda case, directory: fastchess(arguments.fastchess, case, directory)
    first, second = runners

    generator = random.Random(arguments.seed)
    losses = {runner: [] for runner in runners}
    games = 0
    load = start_load(arguments.load)
    try:
        print(f"| block | load average | {first} | {second} |")
        print("|--:|--:|--:|--:|")
        for block in range(1, arguments.blocks + 1):
            for runner in generator.sample(list(runners), 2):
                played, _, forfeits, _ = measure(runner, runners[runner], case, arguments)[-1]
                losses[runner].append(forfeits)
                games += played if runner == first else 0
            print(f"| {block} | {os.getloadavg()[0]:.0f} | {losses[first][-1]} | {losses[second][-1]} |",
                  flush=True)
    finally:
        for process in load:
            process.kill()
            process.wait()

    differences = [one - other for one, other in zip(losses[first], losses[second])]
    print()
    print("| time control | busy processes | pinned | blocks | games of each runner "
          f"| lost with {first} | lost with {second} | difference per block | p |")
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|")
    print(f"| {arguments.tc} | {arguments.load} | {'yes' if arguments.pin else 'no'} | {arguments.blocks} "
          f"| {games} | {sum(losses[first])} | {sum(losses[second])} "
          f"| {statistics.mean(differences):+.2f} | {p_value(differences, generator):.3f} |")


if __name__ == "__main__":
    main()
