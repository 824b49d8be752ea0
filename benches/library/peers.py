#!/usr/bin/env python3
"""Compares imports and searches of the library with SCID, on the same games in one run: peers.py [FILE.pgn]

Needs `scripts/install-record-peers.sh --bench`. Without a file, the games of `benches/records` are used: build it with
`cargo build --release` there. Both programs run alternately; the least time of each step counts.
"""
import glob, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "benches/records/target"))
GENERATOR = os.path.join(TARGET, "release", "readyok-records-bench")
PASSES = int(os.environ.get("PASSES", "3"))
STEPS = {
    "import": "import, with an index of positions and material only in the library",
    "position": "exact position",
    "endgame": "rook endings, two plies",
    "bishops": "only opposite-coloured bishops, four plies",
    "balance": "three pawns more, eight plies",
    "squares": "knight on d5, pawn on e6",
}


def steps(command, **options):
    lines = subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.splitlines()
    fields = (line.split() for line in lines)
    return {line[0]: (int(line[1]), int(line[2])) for line in fields if line and line[0] in STEPS}


def main():
    os.environ["PATH"] += ":/usr/games"
    bench = ["cargo", "bench", "-q", "-p", "readyok-library", "--"]
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(directory, "moves.pgn")
        if len(sys.argv) < 2:
            subprocess.run([GENERATOR, "generate", directory], check=True)
        best = {}
        for _ in range(PASSES):
            for old in glob.glob(os.path.join(directory, "db.*")):
                os.remove(old)
            ours = steps([*bench, file], cwd=ROOT)
            scid = steps(["tkscid", os.path.join(HERE, "search.tcl"), file, os.path.join(directory, "db")])
            for name in STEPS:
                for program, found in (("readyok", ours), ("SCID", scid)):
                    known = best.get((name, program), found[name])
                    best[name, program] = (min(known[0], found[name][0]), found[name][1])
    print("| step | readyok, ms | games | SCID, ms | games | ratio |\n|---|--:|--:|--:|--:|--:|")
    for name, title in STEPS.items():
        (ours, our_games), (theirs, their_games) = best[name, "readyok"], best[name, "SCID"]
        print(f"| {title} | {ours / 1000:.1f} | {our_games} | {theirs / 1000:.1f} | {their_games} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
