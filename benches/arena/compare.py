#!/usr/bin/env python3
"""Measures `readyok match` beside fastchess: what a runner costs, engines excluded.

    cargo build --release -p readyok
    cargo build --release -p readyok-arena --bin instant
    benches/arena/compare.py [--fastchess PATH] [--stockfish PATH] [--quick]

`--readyok PATH` and `--instant PATH` take other programs than those just built. With debug builds, and
the test engine for stockfish, the figures tell nothing, but that all of this still works.

The processor time of a runner is that of its own process in /proc, sampled until it ends; its
engines are other processes. Of its memory "own" is what no other process can share: the rest is the
program itself, in the cache of the system. All runners play the same pairings: where games follow
from the engines alone, it is an error if the plies or the points of any pair differ. Without
--fastchess only ours is measured.

The test engine stamps each `go` that it has read and each `bestmove` that it is about to write. So
for any runner it is known how long it takes from a `bestmove` until the opponent has read its `go`,
which is more than until the runner has read the `bestmove`; and from the last `bestmove` of the
match until the runner has ended.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


def sample(pid):
    """Seconds of processor time, the most memory so far and the own one in MB; None at its end."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status") as status:
            lines = dict(line.split(":", 1) for line in status)
    except (FileNotFoundError, ProcessLookupError):
        return None
    if "VmHWM" not in lines:
        return None
    peak, own = (int(lines[name].split()[0]) / 1024 for name in ["VmHWM", "RssAnon"])
    return (int(fields[11]) + int(fields[12])) / TICK, peak, own


def run(command, folder):
    """Runs a program, and tells its time, processor time and memory."""
    started = time.monotonic()
    with open(folder / "out.txt", "wb") as out:
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        best = (0.0, 0.0, 0.0)
        while child.poll() is None:
            now = sample(child.pid) or best
            best = (*now[:2], max(now[2], best[2]))
            time.sleep(0.005)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed: {(folder / 'out.txt').read_text()[-2000:]}")
    return time.monotonic() - started, *best


def stamps(folder):
    """All stamps of a match: positions with the times when they arose and were asked for."""
    answered, asked = {}, {}
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            what, position, at = line.split()
            (asked if what == "go" else answered)[position] = int(at) / 1e9
    return answered, asked


def latencies(folder):
    """From each bestmove until the opponent has read its go, in microseconds, in order."""
    answered, asked = stamps(folder)
    return sorted(1e6 * (asked[position] - at) for position, at in answered.items()
                  if position in asked)


def outcome_of_results(path):
    """Games, plies, forfeits, and how many pairs have 0, ½, 1, 1½ and 2 points for the first engine."""
    pairs = [json.loads(line)["pair"] for line in open(path) if '"pair"' in line]
    games = [game for pair in pairs for game in pair["games"]]
    forfeits = sum(game["termination"]["kind"] == "time-forfeit" for game in games)
    points = [0] * 5
    for pair in pairs:
        points[sum(half_points(game) for game in pair["games"])] += 1
    return len(games), sum(len(game["moves"]) for game in games), forfeits, points


def half_points(game):
    """Of the engine with the number 0."""
    winner = game.get("winner")
    return 1 if winner is None else 2 * (game[winner] == 0)


def outcome_of_pgn(path, said):
    """The same of fastchess, which has said the points."""
    text = path.read_text()
    counts = [int(line.split('"')[1]) for line in text.splitlines() if line.startswith("[PlyCount")]
    points = re.findall(r"Ptnml\(0-2\): \[(.*?)\]", said.read_text())[-1]
    forfeits = text.count('[Termination "time forfeit"]')
    return len(counts), sum(counts), forfeits, [int(count) for count in points.split(",")]


def ours(case, folder):
    limit = [f"--{name}={value}" for name, value in case["limit"].items()]
    options = [f"--option={option}" for option in case["options"]]
    # `readyok-match` does nothing else.
    verb = [] if Path(case["runner"]).stem == "readyok-match" else ["match"]
    command = [case["runner"], *verb, *case["engines"], *limit, *options,
               f"--openings={case['book']}", f"--rounds={case['rounds']}", "--plain",
               f"--concurrency={case['concurrency']}", "--results=r.jsonl", "--pgn=r.pgn"]
    return run(command, folder), time.time(), outcome_of_results(folder / "r.jsonl")


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
    return (run(command, folder), time.time(),
            outcome_of_pgn(folder / "f.pgn", folder / "out.txt"))


def book():
    """The positions after each first move of each side, so that deterministic engines play different
    games."""
    def moved(pawns, back, pieces):
        """Both rows and the two before them after each first move."""
        empty = "........"
        for file in range(8):
            rest = pawns[:file] + "." + pawns[file + 1:]
            there = empty[:file] + pawns[file] + empty[file + 1:]
            yield back, rest, there, empty
            yield back, rest, empty, there
        for start, files in [(1, [0, 2]), (6, [5, 7])]:
            for file in files:
                rest = back[:start] + "." + back[start + 1:]
                yield rest, pawns, empty[:file] + pieces + empty[file + 1:], empty

    def row(squares):
        return re.sub(r"\.+", lambda dots: str(len(dots[0])), squares)

    for white in moved("PPPPPPPP", "RNBQKBNR", "N"):
        for black in moved("pppppppp", "rnbqkbnr", "n"):
            rows = [*black, *reversed(white)]
            yield "/".join(map(row, rows)) + " w KQkq - 0 2"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    program = {"type": os.path.abspath}
    usual = shutil.which("stockfish") or "/usr/games/stockfish"
    parser.add_argument("--fastchess", **program)
    parser.add_argument("--stockfish", default=usual, **program)
    parser.add_argument("--readyok", default=ROOT / "target/release/readyok", **program)
    parser.add_argument("--instant", default=ROOT / "target/release/instant", **program)
    parser.add_argument("--quick", action="store_true", help="a few games only")
    arguments = parser.parse_args()
    instant = arguments.instant
    rounds = 10 if arguments.quick else 100
    cases = []
    for concurrency in [2, 16, 64]:
        cases.append((f"instant engines, concurrency {concurrency}",
                      {"engines": [f"{instant} seed=7 stamps=", f"{instant} seed=8 stamps="],
                       "limit": {"nodes": 1}, "options": [], "rounds": rounds,
                       "concurrency": concurrency}))
        cases.append((f"stockfish nodes=1, concurrency {concurrency}",
                      {"engines": [arguments.stockfish] * 2, "limit": {"nodes": 1},
                       "options": ["Hash=1"], "rounds": rounds, "concurrency": concurrency}))
    cases.append(("stockfish 0.1+0.01, concurrency 2",
                  {"engines": [arguments.stockfish] * 2, "limit": {"tc": "0.1+0.01"},
                   "options": ["Hash=1"], "rounds": rounds // 2, "concurrency": 2}))
    print("| case | runner | games | plies | µs/ply | games/s | MB | own MB | exit ms "
          "| latency µs: 50, 95, 99 % | forfeits |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, case in cases:
        runners = [("readyok", ours)]
        if arguments.fastchess:
            path = arguments.fastchess
            runners.append(("fastchess", lambda case, folder: fastchess(path, case, folder)))
        outcomes = {}
        for runner, play in runners:
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                (folder / "stamps").mkdir()
                (folder / "book.epd").write_text("\n".join(sorted(book())) + "\n")
                engines = [engine.replace("stamps=", f"stamps={folder / 'stamps'}")
                           for engine in case["engines"]]
                here = {**case, "runner": arguments.readyok, "engines": engines,
                        "book": folder / "book.epd"}
                (wall, cpu, memory, own), over, outcome = play(here, folder)
                answered, _ = stamps(folder / "stamps")
                times = latencies(folder / "stamps")
            outcomes[runner] = outcome
            games, plies, forfeits, _ = outcome
            end = f"{1000 * (over - max(answered.values())):.0f}" if answered else "–"
            shares = [times[int(share * (len(times) - 1))] for share in [0.5, 0.95, 0.99]
                      if times]
            late = ", ".join(f"{time:.0f}" for time in shares) or "–"
            print(f"| {name} | {runner} | {games} | {plies} | {1e6 * cpu / plies:.0f} | "
                  f"{games / wall:.1f} | {memory:.1f} | {own:.1f} | {end} | {late} | {forfeits} |",
                  flush=True)
        if "nodes" in case["limit"] and len(set(map(str, outcomes.values()))) > 1:
            sys.exit(f"{name}: not the same games, plies, forfeits and points of pairs: {outcomes}")


main()
