#!/usr/bin/env python3
"""Measures the overhead of `readyok match` compared with other match runners, engines excluded: fastchess and
cutechess for chess, ShogiArena for shogi. `scripts/install-match-peers.sh` installs them.

    cargo build --release -p readyok
    cargo build --release -p readyok-arena --example instant
    benches/arena/compare.py [--peers] [--fastchess PATH] [--cutechess PATH] [--shogiarena PATH]
                             [--stockfish PATH] [--book-lines N] [--time-losses] [--quick] [--only TEXT]

--peers uses all runners that the script has installed. --time-losses adds games at 1+0.01 and 0.1+0.01 in which
the runners alternate, which compares losses on time on a loaded machine. --only selects the cases whose name
contains a text, for example `--only shogi`, or `--only none --time-losses`.

`--readyok PATH` and `--instant PATH` replace the programs just built. Debug builds, and the test engine
instead of stockfish, only check that this script works.

The CPU time of a runner is that of its own process in /proc, sampled until it ends; its engines are
other processes. "Own" memory is anonymous memory (RssAnon); the rest is mainly the program file in the
page cache. All runners play the same pairings. In deterministic games, different plies or points of a
pair are an error. Without --fastchess only `readyok match` is measured.

--book-lines N adds two cases with a generated book of N lines, in sequential and in random order. Each
is a match of one pair, which shows the time until the first move and the memory of the book. --quick
defaults to a thousand lines.

The test engine records the time of each `go` after reading it and of each `bestmove` before writing it.
The latency of a runner is the time from a `bestmove` until the opponent has read its `go`. The time from
the last `bestmove` of the match until the runner has ended is also measured.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")
# Where `scripts/install-match-peers.sh` installs the runners.
PEERS = {"fastchess": ROOT / "target/match-peers/fastchess/fastchess",
         "cutechess": ROOT / "target/match-peers/cutechess/build/cutechess-cli",
         "shogiarena": ROOT / "target/match-peers/venv/bin/shogiarena"}


def sample(pid):
    """CPU time in seconds, peak memory and own memory in MB; None after the process has ended."""
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


def run(command, directory):
    """Runs a program and returns its wall-clock time, CPU time and memory."""
    started = time.monotonic()
    with open(directory / "out.txt", "wb") as out:
        child = subprocess.Popen(command, cwd=directory, stdout=out, stderr=subprocess.STDOUT)
        best = (0.0, 0.0, 0.0)
        while child.poll() is None:
            now = sample(child.pid) or best
            best = (*now[:2], max(now[2], best[2]))
            time.sleep(0.005)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed: {(directory / 'out.txt').read_text()[-2000:]}")
    return time.monotonic() - started, *best


def stamps(directory):
    """All stamps of a match: positions with the times when they arose and were asked for."""
    answered, asked = {}, {}
    for file in directory.iterdir():
        for line in file.read_text().splitlines():
            what, position, at = line.split()
            (asked if what == "go" else answered)[position] = int(at) / 1e9
    return answered, asked


def latencies(directory):
    """From each bestmove until the opponent has read its go, in microseconds, in order."""
    answered, asked = stamps(directory)
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
    """Half points of the engine with the number 0."""
    winner = game.get("winner")
    return 1 if winner is None else 2 * (game[winner] == 0)


def outcome_of_pgn(path, output):
    """The outcome of a fastchess match: games and plies from the PGN file, points from its output."""
    text = path.read_text()
    counts = [int(line.split('"')[1]) for line in text.splitlines() if line.startswith("[PlyCount")]
    points = re.findall(r"Ptnml\(0-2\): \[(.*?)\]", output.read_text())[-1]
    forfeits = text.count('[Termination "time forfeit"]')
    return len(counts), sum(counts), forfeits, [int(count) for count in points.split(",")]


def rounds_of_pgn(path):
    """The outcome of a PGN file in which both games of a pair have the same round."""
    games = []
    for text in path.read_text().split("[Event ")[1:]:
        games.append(dict(re.findall(r'^\[(\w+) "(.*)"\]$', text, re.MULTILINE)))
    halves = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1)}
    scores = {}
    for game in games:
        white, black = halves[game["Result"]]
        pair = game["Round"].split(".")[0]
        scores[pair] = scores.get(pair, 0) + (white if game["White"] == "e0" else black)
    points = [0] * 5
    for score in scores.values():
        points[score] += 1
    forfeits = sum(game.get("Termination") == "time forfeit" for game in games)
    return len(games), sum(int(game["PlyCount"]) for game in games), forfeits, points


def outcome_of_database(directory):
    """The outcome of a ShogiArena run, without the points of pairs."""
    database = next(directory.glob("out/tournament/runs/*/*/game.db"))
    with sqlite3.connect(database) as connection:
        games, plies = connection.execute("select count(*), sum(num_moves) from game").fetchone()
        late = connection.execute("select count(*) from game_timeout_attribution").fetchone()[0]
    return games, plies, late, None


def ours(case, directory):
    limit = [f"--{name}={value}" for name, value in case["limit"].items()]
    options = [f"--option={option}" for option in case["options"]]
    order = ["--random", "--seed=7"] if case["order"] == "random" else []
    is_shogi = case.get("shogi")
    game = ["--game=shogi"] if is_shogi else [f"--openings={case['book']}"]
    records = ["--kif=kif"] if is_shogi else ["--pgn=r.pgn"]
    pin = ["--pin"] if case.get("pin") else []
    command = [case["runner"], "match", *case["engines"], *limit, *options, *order, *game, *pin, f"--rounds={case['rounds']}", "--plain",
               f"--concurrency={case['concurrency']}", "--results=r.jsonl", *records]
    return run(command, directory), time.time(), outcome_of_results(directory / "r.jsonl")


def fastchess(path, case, directory):
    names = {"nodes": "nodes", "tc": "tc"}
    limit = [f"{names[name]}={value}" for name, value in case["limit"].items()]
    engines = []
    for number, engine in enumerate(case["engines"]):
        program, *arguments = engine.split()
        engines += ["-engine", f"cmd={program}", f"name=e{number}"]
        engines += [f"args={' '.join(arguments)}"] if arguments else []
    options = [f"option.{option}" for option in case["options"]]
    command = [path, *engines, "-each", *limit, *options, "-openings", f"file={case['book']}",
               "format=epd", f"order={case['order']}", "-srand", "7", "-rounds", str(case["rounds"]), "-games", "2",
               "-concurrency", str(case["concurrency"]), "-force-concurrency",
               "-ratinginterval", "0", "-recover", "-pgnout", "file=f.pgn", "append=false"]
    command += ["-use-affinity"] if case.get("pin") else []
    return (run(command, directory), time.time(),
            outcome_of_pgn(directory / "f.pgn", directory / "out.txt"))


def cutechess(path, case, directory):
    limit = [f"{name}={value}" for name, value in case["limit"].items()]
    limit += ["tc=inf"] if "tc" not in case["limit"] else []
    engines = []
    for number, engine in enumerate(case["engines"]):
        program, *arguments = engine.split()
        engines += ["-engine", f"cmd={program}", f"name=e{number}", "proto=uci"]
        engines += [f"arg={argument}" for argument in arguments]
    options = [f"option.{option}" for option in case["options"]]
    command = [path, *engines, "-each", *limit, *options, "-openings", f"file={case['book']}", "format=epd",
               f"order={case['order']}", "-srand", "7", "-rounds", str(case["rounds"]), "-games", "2", "-repeat",
               "-concurrency", str(case["concurrency"]), "-ratinginterval", "0", "-recover", "-pgnout", "c.pgn"]
    return run(command, directory), time.time(), rounds_of_pgn(directory / "c.pgn")


def shogiarena(path, case, directory):
    engines = []
    for number, engine in enumerate(case["engines"]):
        # ShogiArena starts programs without arguments.
        wrapper = directory / f"e{number}.sh"
        wrapper.write_text(f"#!/bin/sh\nexec {engine}\n")
        wrapper.chmod(0o755)
        engines += ["--engine", f"name=e{number}", f"path={wrapper}"]
    command = [path, "--log-level", "ERROR", "--output-dir", directory / "out", "run", "sprt", *engines,
               "--games", str(2 * case["rounds"]), "--rules",
               f"time_control.node_limit={case['limit']['nodes']}",
               "--sprt", f"num_parallel={case['concurrency']}"]
    return run(command, directory), time.time(), outcome_of_database(directory)


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
            yield "/".join(map(row, rows)) + " w KQkq - 0 1"


def big_book(lines):
    """As many lines as wanted, each another, of the positions of the usual book."""
    positions = sorted(book())
    for number in range(lines):
        board = positions[number % len(positions)].rsplit(" ", 2)[0]
        yield f'{board} hmvc 0; fmvn 1; id "{number}";'


def measure(runner, play, case, programs):
    """Plays a match. Returns the result of `run`, the milliseconds until the first `go` was read and from
    the last bestmove to the end, the latencies, and the outcome. Without stamps the times are missing."""
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        (directory / "stamps").mkdir()
        lines = big_book(case["lines"]) if case["lines"] else sorted(book())
        with open(directory / "book.epd", "w") as file:
            file.writelines(f"{line}\n" for line in lines)
        engines = [engine.replace("stamps=", f"stamps={directory / 'stamps'}")
                   for engine in case["engines"]]
        here = {**case, "runner": programs.readyok, "engines": engines,
                "book": directory / "book.epd"}
        started = time.time()
        used, over, outcome = play(here, directory)
        answered, asked = stamps(directory / "stamps")
        start = 1000 * (min(asked.values()) - started) if asked else None
        end = 1000 * (over - max(answered.values())) if answered else None
        return used, start, end, latencies(directory / "stamps"), outcome


def check_same(name, outcomes):
    """Where games follow from the engines and the order alone, all runners play the same. Dead positions of many
    bishops of one color are draws for some runners only, a few plies earlier."""
    without_plies = {str((games, *rest)) for games, _, *rest in outcomes.values()}
    plies = [outcome[1] for outcome in outcomes.values()]
    is_same = len(without_plies) == 1 and max(plies) - min(plies) <= max(plies) / 1000
    if not is_same and all(it[3] for it in outcomes.values()):
        sys.exit(f"{name}: not the same games, plies, forfeits and points of pairs: {outcomes}")


def compare_losses(stockfish, runners, programs, rounds):
    """Alternates between the runners, so that each has the same load of the machine."""
    print()
    print("| time control | runner | games | losses on time |")
    print("|---|---|--:|--:|")
    for control in ["1+0.01", "0.1+0.01"]:
        case = {**stockfish, "limit": {"tc": control}, "rounds": 2, "concurrency": 2}
        sums = {runner: [0, 0] for runner, _ in runners}
        for _ in range(rounds):
            for runner, play in runners:
                games, _, forfeits, _ = measure(runner, play, case, programs)[-1]
                sums[runner][0] += games
                sums[runner][1] += forfeits
        for runner, (games, forfeits) in sums.items():
            print(f"| {control} | {runner} | {games} | {forfeits} |", flush=True)


def figure(value):
    return "–" if value is None else f"{value:.0f}"


def compare_matches(cases, runners, programs):
    cases = [case for case in cases if programs.only in case[0]]
    if not cases:
        return
    print("| case | runner | games | plies | µs/ply | games/s | MB | own MB | exit ms "
          "| latency µs: 50, 95, 99 % | forfeits |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, case in cases:
        outcomes = {}
        for runner, play in runners:
            (wall, cpu, memory, own), _, end, times, outcome = measure(runner, play, case, programs)
            outcomes[runner] = outcome
            games, plies, forfeits, _ = outcome
            shares = [times[int(share * (len(times) - 1))] for share in [0.5, 0.95, 0.99]
                      if times]
            late = ", ".join(f"{time:.0f}" for time in shares) or "–"
            print(f"| {name} | {runner} | {games} | {plies} | {1e6 * cpu / plies:.0f} | "
                  f"{games / wall:.1f} | {memory:.1f} | {own:.1f} | {figure(end)} | {late} | "
                  f"{forfeits} |", flush=True)
        if "nodes" in case["limit"]:
            check_same(name, outcomes)


def compare_books(cases, runners, programs):
    print()
    print("| case | runner | start ms | CPU ms | MB | own MB |")
    print("|---|---|--:|--:|--:|--:|")
    for name, case in cases:
        outcomes = {}
        for runner, play in runners:
            (_, cpu, memory, own), start, _, _, outcome = measure(runner, play, case, programs)
            outcomes[runner] = outcome
            print(f"| {name} | {runner} | {figure(start)} | {1000 * cpu:.0f} | {memory:.1f} | "
                  f"{own:.1f} |", flush=True)
        # The random order differs between runners.
        if case["order"] == "sequential":
            check_same(name, outcomes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    program = {"type": os.path.abspath}
    usual = shutil.which("stockfish") or "/usr/games/stockfish"
    parser.add_argument("--peers", action="store_true", help="with all installed runners")
    parser.add_argument("--fastchess", **program)
    parser.add_argument("--cutechess", **program)
    parser.add_argument("--shogiarena", **program)
    parser.add_argument("--time-losses", action="store_true", help="also compare losses on time")
    parser.add_argument("--stockfish", default=usual, **program)
    parser.add_argument("--readyok", default=ROOT / "target/release/readyok", **program)
    parser.add_argument("--instant", default=ROOT / "target/release/examples/instant", **program)
    parser.add_argument("--book-lines", type=int, metavar="N", help="also with a book of N lines")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains this text")
    parser.add_argument("--quick", action="store_true", help="a few games only")
    programs = parser.parse_args()
    if programs.peers:
        for name, path in PEERS.items():
            if getattr(programs, name) is None and path.exists():
                setattr(programs, name, str(path))
    rounds = 10 if programs.quick else 100
    usual_book = {"lines": 0, "order": "sequential"}
    instant = {"engines": [f"{programs.instant} seed={seed} stamps=" for seed in [7, 8]],
               "limit": {"nodes": 1}, "options": []}
    stockfish = {"engines": [programs.stockfish] * 2, "options": ["Hash=1"], **usual_book}
    matches = []
    for concurrency in [2, 16, 64]:
        several = {"rounds": rounds, "concurrency": concurrency}
        matches.append((f"instant engines, concurrency {concurrency}",
                        {**instant, **usual_book, **several}))
        matches.append((f"stockfish nodes=1, concurrency {concurrency}",
                        {**stockfish, "limit": {"nodes": 1}, **several}))
    matches.append(("stockfish 0.1+0.01, concurrency 2",
                    {**stockfish, "limit": {"tc": "0.1+0.01"}, "rounds": rounds // 2,
                     "concurrency": 2}))
    runners = [("readyok", ours)]
    if programs.fastchess:
        runners.append(("fastchess",
                        lambda case, directory: fastchess(programs.fastchess, case, directory)))
    if programs.cutechess:
        runners.append(("cutechess",
                        lambda case, directory: cutechess(programs.cutechess, case, directory)))
    compare_matches(matches, runners, programs)
    if programs.shogiarena:
        both = [("readyok", ours),
                ("ShogiArena",
                 lambda case, directory: shogiarena(programs.shogiarena, case, directory))]
        narikin = f"{programs.readyok} engine"
        shogi = {"engines": [narikin] * 2, "limit": {"nodes": 1}, "options": [], "shogi": True,
                 **usual_book, "rounds": max(rounds // 5, 2), "concurrency": 2}
        compare_matches([("shogi, Narikin nodes=1, concurrency 2", shogi)], both, programs)
    if programs.time_losses:
        compare_losses(stockfish, runners, programs, 2 if programs.quick else 24)
    lines = programs.book_lines or (1000 if programs.quick else 0)
    if lines:
        compare_books([(f"{lines} openings, {order}",
                        {**instant, "lines": lines, "order": order, "rounds": 1, "concurrency": 2})
                       for order in ["sequential", "random"]], runners, programs)


if __name__ == "__main__":
    main()
