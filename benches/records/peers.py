#!/usr/bin/env python3
"""Compares the CPU time of reading records: readyok-rules, pgn-extract, SCID, python-chess and tsshogi.

Needs `scripts/install-record-peers.sh` and `cargo build --release` in this directory. The programs run alternately; the least
user CPU time of each counts. A program that is not installed is skipped.
"""
import glob, os, resource, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "target"))
BENCH = os.path.join(TARGET, "release", "readyok-records-bench")
PASSES = int(os.environ.get("PASSES", "3"))
REPEAT = "200"
# python-chess reads this part of a file.
PART = 20
PYTHON_CHESS = "import chess.pgn, sys\nfile = open(sys.argv[1])\nwhile chess.pgn.read_game(file): pass"


def cpu(command, env=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def part_of(path):
    """Writes the first games of a file to another one, and returns its name and its part of the bytes."""
    with open(path) as file:
        text = file.read()
    end = text.index("\n\n[", len(text) // PART) + 2
    with open(f"{path}.part", "w") as file:
        file.write(text[:end])
    return f"{path}.part", end / len(text)


def compare(title, runs):
    runs = [(name, run) for name, run in runs if run]
    best = {}
    for _ in range(PASSES):
        for name, run in runs:
            best[name] = min(best.get(name, float("inf")), run())
    for name, time in best.items():
        print(f"| {title} | {name} | {time:.2f} | {time / best['readyok']:.2f} |", flush=True)


def main():
    os.environ["PATH"] += ":/usr/games"
    print("| files | program | user CPU s | ratio |\n|---|---|---|---|")
    python = os.path.join(ROOT, "target", "record-peers", "bin", "python")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([BENCH, "generate", directory], check=True)

        def scid(path):
            for old in glob.glob(os.path.join(directory, "db.*")):
                os.remove(old)
            return cpu(["tkscid", os.path.join(HERE, "scid.tcl"), path, os.path.join(directory, "db")])

        for name, title in [("moves.pgn", "40 MB of PGN"), ("clocks.pgn", "40 MB of PGN with clocks")]:
            path = os.path.join(directory, name)
            part, share = part_of(path)
            compare(title, [
                ("readyok", lambda: cpu([BENCH, "read", "1", path])),
                ("pgn-extract -r", shutil.which("pgn-extract") and (lambda: cpu(["pgn-extract", "-r", path]))),
                ("SCID, import", shutil.which("tkscid") and (lambda: scid(path))),
                ("python-chess, scaled from a part", os.path.exists(python)
                 and (lambda: cpu([python, "-c", PYTHON_CHESS, part]) / share)),
            ])
    modules = os.path.join(ROOT, "target", "record-peers", "node_modules")
    env = {**os.environ, "NODE_PATH": modules}
    for title, patterns in [("KIF and KI2", ["*.kif", "*.kifu", "*.ki2"]), ("CSA", ["*.csa"])]:
        files = sorted(sum((glob.glob(os.path.join(ROOT, "testdata/records", it)) for it in patterns), []))
        has_tsshogi = os.path.isdir(os.path.join(modules, "tsshogi"))
        script = os.path.join(HERE, "tsshogi.cjs")
        compare(f"{title}, {len(files)} files × {REPEAT}", [
            ("readyok", lambda: cpu([BENCH, "read", REPEAT, *files])),
            ("tsshogi", has_tsshogi and (lambda: cpu(["node", script, REPEAT, *files], env))),
        ])


if __name__ == "__main__":
    sys.exit(main())
