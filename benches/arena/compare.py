#!/usr/bin/env python3
"""Measures `readyok match` beside fastchess: what a runner costs, engines excluded.

    cargo build --release -p readyok
    cargo build --release -p readyok-arena --bin instant
    benches/arena/compare.py [--fastchess PATH] [--stockfish PATH] [--quick]

The processor time of a runner is that of its own process in /proc, sampled until it ends; its
engines are other processes. All runners play the same pairings. Without --fastchess only ours is
measured.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


def sample(pid):
    """Seconds of processor time and the most memory so far in MB, or None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status") as status:
            peak = [line for line in status if line.startswith("VmHWM")]
    except (FileNotFoundError, ProcessLookupError):
        return None
    if not peak:
        return None
    return (int(fields[11]) + int(fields[12])) / TICK, int(peak[0].split()[1]) / 1024


def run(command, folder):
    """Runs a program, and tells its time, processor time, memory and output."""
    started = time.monotonic()
    with open(folder / "out.txt", "wb") as out:
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        best = (0.0, 0.0)
        while child.poll() is None:
            best = sample(child.pid) or best
            time.sleep(0.005)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed: {(folder / 'out.txt').read_text()[-2000:]}")
    return time.monotonic() - started, *best


def plies_of_results(path):
    games = [game for line in open(path) if '"pair"' in line
             for game in json.loads(line)["pair"]["games"]]
    forfeits = sum(game["termination"]["kind"] == "time-forfeit" for game in games)
    end = max(game["started_ms"] + game["duration_ms"] for game in games)
    return len(games), sum(len(game["moves"]) for game in games), forfeits, end / 1000


def plies_of_pgn(path):
    text = path.read_text()
    counts = [int(line.split('"')[1]) for line in text.splitlines() if line.startswith("[PlyCount")]
    return len(counts), sum(counts), text.count('[Termination "time forfeit"]')


def ours(case, folder):
    limit = [f"--{name}={value}" for name, value in case["limit"].items()]
    options = [f"--option={option}" for option in case["options"]]
    command = [ROOT / "target/release/readyok", "match", *case["engines"], *limit, *options,
               f"--openings={case['book']}", f"--rounds={case['rounds']}", "--plain",
               f"--concurrency={case['concurrency']}", "--results=r.jsonl", "--pgn=r.pgn"]
    wall, cpu, memory = run(command, folder)
    over = time.time()
    games, plies, forfeits, end = plies_of_results(folder / "r.jsonl")
    return games, plies, forfeits, wall, cpu, memory, max(0.0, over - end)


def fastchess(path, case, folder):
    names = {"nodes": "nodes", "tc": "tc"}
    limit = [f"{names[name]}={value}" for name, value in case["limit"].items()]
    engines = []
    for number, engine in enumerate(case["engines"]):
        program, *arguments = engine.split()
        engines += ["-engine", f"cmd={program}", f"name=e{number}"]
        engines += [f"args={' '.join(arguments)}"] if arguments else []
    options = [f"option.{option}" for option in case["options"]]
    command = [path, *engines, "-each", *limit, *options, "-openings", f"file={case['book']}",
               "format=epd", "order=sequential", "-rounds", str(case["rounds"]), "-games", "2",
               "-concurrency", str(case["concurrency"]), "-force-concurrency",
               "-ratinginterval", "0", "-recover", "-pgnout", "file=f.pgn", "append=false"]
    wall, cpu, memory = run(command, folder)
    games, plies, forfeits = plies_of_pgn(folder / "f.pgn")
    return games, plies, forfeits, wall, cpu, memory, None


# Positions after a first move, so that deterministic engines play different games.
BOOK = """\
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2
rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2
rnbqkbnr/ppppp1pp/8/5p2/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pppp1ppp/8/4p3/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 0 2
rnbqkb1r/pppppppp/5n2/8/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 1 2
rnbqkbnr/ppp1pppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fastchess")
    parser.add_argument("--stockfish", default=shutil.which("stockfish") or "/usr/games/stockfish")
    parser.add_argument("--quick", action="store_true", help="a few games only")
    arguments = parser.parse_args()
    instant = str(ROOT / "target/release/instant")
    rounds = 10 if arguments.quick else 100
    cases = []
    for concurrency in [2, 16, 64]:
        cases.append((f"instant engines, concurrency {concurrency}",
                      {"engines": [f"{instant} seed=7", f"{instant} seed=8"],
                       "limit": {"nodes": 1}, "options": [], "rounds": rounds,
                       "concurrency": concurrency}))
        cases.append((f"stockfish nodes=1, concurrency {concurrency}",
                      {"engines": [arguments.stockfish] * 2, "limit": {"nodes": 1},
                       "options": ["Hash=1"], "rounds": rounds, "concurrency": concurrency}))
    cases.append(("stockfish 0.1+0.01, concurrency 2",
                  {"engines": [arguments.stockfish] * 2, "limit": {"tc": "0.1+0.01"},
                   "options": ["Hash=1"], "rounds": rounds // 2, "concurrency": 2}))
    print("| case | runner | games | plies | µs/ply | games/s | MB | exit ms | forfeits |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, case in cases:
        runners = [("readyok", ours)]
        if arguments.fastchess:
            path = os.path.abspath(arguments.fastchess)
            runners.append(("fastchess", lambda case, folder: fastchess(path, case, folder)))
        for runner, play in runners:
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                (folder / "book.epd").write_text(BOOK)
                case["book"] = folder / "book.epd"
                games, plies, forfeits, wall, cpu, memory, end = play(case, folder)
            end = "–" if end is None else f"{1000 * end:.0f}"
            print(f"| {name} | {runner} | {games} | {plies} | {1e6 * cpu / plies:.0f} | "
                  f"{games / wall:.1f} | {memory:.1f} | {end} | {forfeits} |", flush=True)


main()
