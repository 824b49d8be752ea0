"""Calls functions of the package with random arguments, among them the results of earlier calls, and damaged files.

Usage: fuzz.py SECONDS [SEED]

A crash of the interpreter is a defect; so is an error of the interpreter itself, which `test_hostile.attempt` rejects.
"""

import random
import sys
import time
from pathlib import Path

import readyok
from test_hostile import VALUES, attempt

ROOT = Path(__file__).resolve().parents[3]
TEXTS = [
    "e2e4", "e4", "O-O", "7g7f", "P-7f", "▲７六歩", "+7776FU", "chess", "chess960", "shogi", "first", "second", "san", "japanese", "csa",
    "pgn", "kif", "ki2", "jkf", "usi", "utf-8", "shift_jis", "White", "1-0", "checkmate", "resignation", "x-fen", "shredder", "rook",
    "go depth 3 searchmoves e2e4", "info score cp 1 pv e2e4", "option name A type spin default 1 min 0 max 2", "bestmove e2e4 ponder e7e5",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
]
# Functions that write files, start programs or never end.
EXCLUDED = {"write", "Engine", "program", "narikin", "Task", "_restore"}


def damaged(dice, data):
    data = bytearray(data)
    for _ in range(dice.randrange(20)):
        place = dice.randrange(len(data) + 1)
        if dice.random() < 0.5:
            data[place : place + dice.randrange(9)] = b""
        else:
            data[place:place] = bytes(dice.randrange(256) for _ in range(dice.randrange(9)))
    return bytes(data)


def is_exception(value):
    return isinstance(value, type) and issubclass(value, BaseException)


def run(seconds, seed):
    """Returns the number of calls."""
    dice = random.Random(seed)
    files = [path.read_bytes()[:5000] for path in sorted((ROOT / "testdata" / "records").rglob("*")) if path.is_file()]
    functions = [getattr(readyok, name) for name in readyok.__all__ if name not in EXCLUDED]
    functions = [function for function in functions if callable(function) and not is_exception(function)]
    known = [readyok.Position(), readyok.Position(game="shogi"), readyok.Game()]
    deadline, calls = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        choice = dice.random()
        if choice < 0.3:
            function = dice.choice(functions)
        else:
            subject = dice.choice(known)
            name = dice.choice([name for name in dir(subject) if not name.startswith("__") and name not in EXCLUDED])
            try:
                function = getattr(subject, name)
            except ValueError:
                # A deleted node.
                continue
        arguments = []
        for _ in range(dice.randrange(4)):
            pool = dice.choice((TEXTS, TEXTS, VALUES, known, None))
            arguments.append(damaged(dice, dice.choice(files)) if pool is None else dice.choice(pool))
        calls += 1
        if not callable(function):
            attempt(setattr, subject, name, dice.choice(VALUES + TEXTS))
            continue
        result = []
        attempt(lambda: result.append(function(*arguments)))
        if result and type(result[0]).__module__.startswith("readyok"):
            known.append(result[0])
            del known[3 : max(3, len(known) - 200)]
        if result and isinstance(result[0], readyok.Records):
            attempt(lambda: known.extend(result[0]))
    return calls


if __name__ == "__main__":
    SEED = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns()
    print(f"seed {SEED}", flush=True)
    print(run(float(sys.argv[1]), SEED), "calls")
