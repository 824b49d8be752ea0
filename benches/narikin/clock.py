#!/usr/bin/env python3
"""Shows how Narikin uses its clock: the main time left after every tenth move of games against itself, with scaled time controls.

    cargo build --release -p narikin
    benches/narikin/clock.py [--scale 30] [--games 4]

A time control is given as seconds of main time, increment and byoyomi, or moves per period, before scaling. Columns are numbers of moves; times are
in seconds of the original time control, and means over all games that lasted that long.
"""

import argparse
import random
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Name, game, main time, increment, byoyomi, moves of a period.
CONTROLS = [
    ("15+10", "chess", 900, 10, 0, 0),
    ("3+2", "chess", 180, 2, 0, 0),
    ("5+0", "chess", 300, 0, 0, 0),
    ("40/15", "chess", 900, 0, 0, 40),
    ("10 s + 0.1 s, not scaled", "chess", 10, 0.1, 0, 0),
    ("10 min + 30 s byoyomi", "shogi", 600, 0, 30, 0),
    ("15 min + 0", "shogi", 900, 0, 0, 0),
    ("5 min + 10 s", "shogi", 300, 10, 0, 0),
]
MOVES = 80


class Engine:
    def __init__(self, command, dialect):
        self.process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.ask(dialect, dialect + "ok")
        self.send(f"{dialect}newgame")
        self.ask("isready", "readyok")

    def send(self, line):
        self.process.stdin.write(line + "\n")

    def ask(self, line, start):
        """Sends a line, and returns the first answer that starts with a text."""
        self.send(line)
        for answer in self.process.stdout:
            if answer.startswith(start):
                return answer.split()
        raise SystemExit("the engine exited")


def play(command, control, scale, opening):
    """The main time left of the first player after each of its moves."""
    name, game, main, increment, byoyomi, period = control
    scale = 1 if "not scaled" in name else scale
    dialect = "usi" if game == "shogi" else "uci"
    engines = [Engine(command, dialect) for _ in range(2)]
    milliseconds = 1000 / scale
    left = [main * milliseconds] * 2
    kind = "sfen" if game == "shogi" else "fen"
    moves, history = [], []
    first = 0 if opening.split()[1] == ("b" if game == "shogi" else "w") else 1
    for ply in range(2 * MOVES):
        side = (first + ply) % 2
        clocks = [max(1, int(time_left)) for time_left in left]
        names = ("btime", "wtime") if game == "shogi" else ("wtime", "btime")
        limits = f"{names[0]} {clocks[0]} {names[1]} {clocks[1]}"
        if increment:
            limits += f" {'b' if game == 'shogi' else 'w'}inc {int(increment * milliseconds)}"
            limits += f" {'w' if game == 'shogi' else 'b'}inc {int(increment * milliseconds)}"
        if byoyomi:
            limits += f" byoyomi {int(byoyomi * milliseconds)}"
        if period:
            limits += f" movestogo {period - ply // 2 % period}"
        position = f"position {kind} {opening}" + (" moves " + " ".join(moves) if moves else "")
        engines[side].send(position)
        begin = time.monotonic()
        _, move, *_ = engines[side].ask(f"go {limits}", "bestmove")
        used = (time.monotonic() - begin) * 1000
        left[side] = max(0, left[side] - used) + increment * milliseconds
        if period and (ply // 2 + 1) % period == 0:
            left[side] += main * milliseconds
        if side == 0:
            history.append(left[side] * scale / 1000)
        if move in ("(none)", "resign", "win", "0000"):
            break
        moves.append(move)
    for engine in engines:
        engine.send("quit")
    return history


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default=ROOT / "target/release/narikin")
    parser.add_argument("--scale", type=float, default=30, help="divides the times (default: 30)")
    parser.add_argument("--games", type=int, default=4, help="games per time control (default: 4)")
    arguments = parser.parse_args()
    columns = range(10, MOVES + 1, 10)
    print("| time control | game | " + " | ".join(map(str, columns)) + " |")
    print("|---|---|" + "--:|" * len(columns))
    for control in CONTROLS:
        file = "shogi.sfen" if control[1] == "shogi" else "chess.epd"
        openings = [
            " ".join(line.split()[:4])
            for line in (ROOT / "testdata/openings" / file).read_text().splitlines()
            if line and not line.startswith("#")
        ]
        chosen = random.Random(1).sample(openings, arguments.games)
        games = [play(arguments.engine, control, arguments.scale, opening) for opening in chosen]
        row = []
        for column in columns:
            times = [game[column - 1] for game in games if len(game) >= column]
            row.append(f"{sum(times) / len(times):.1f}" if times else "")
        print(f"| {control[0]} | {control[1]} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
