#!/usr/bin/env python3
"""Compares the CPU times of two builds of Narikin for the same search.

The builds run alternately, so other load of the host affects both. With one thread and a node limit both search the same
tree.
"""

import argparse
import resource
import statistics
import subprocess

SEARCHES = {
    "chess": ("uci", "Hash", "position fen r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"),
    "shogi": ("usi", "USI_Hash", "position startpos moves 7g7f 3c3d 2g2f 8c8d"),
}


def search(build, hello, option, position, hash_size, nodes):
    """Runs a search and returns its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [hello, f"setoption name {option} value {hash_size}", "isready", position, f"go nodes {nodes}"]
    with subprocess.Popen([build], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        engine.stdin.write("\n".join(lines) + "\n")
        engine.stdin.flush()
        if not any(line.startswith("bestmove") for line in engine.stdout):
            raise SystemExit(f"{build} exited without a best move")
        engine.communicate("quit\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=3_000_000)
    parser.add_argument("--hash", type=int, default=512)
    args = parser.parse_args()
    for game, about in SEARCHES.items():
        times = {build: [] for build in (args.before, args.after)}
        for _ in range(args.runs):
            for build, taken in times.items():
                taken.append(search(build, *about, args.hash, args.nodes))
        before, after = (statistics.median(taken) for taken in times.values())
        print(f"{game}: {before:.2f} s and {after:.2f} s (medians of {args.runs}), ratio {after / before:.3f}")


main()
