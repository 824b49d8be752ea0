"""Ends of programs. `exits.py 1000` runs more of them."""

import os
import subprocess
import sys

import exits


def test_programs_end_without_abort_and_without_leaked_engines(stockfish):
    assert exits.run(int(os.environ.get("READYOK_EXITS", "50")), stockfish) == []


def test_a_streamed_file_needs_little_memory(tmp_path):
    path = tmp_path / "large.pgn"
    game = "[Event \"?\"]\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 1/2-1/2\n\n"
    games = 250_000
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(100):
            file.write(game * (games // 100))
    code = (
        "import resource, sys, readyok\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in readyok.read(sys.argv[1]))\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    output = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    count, kilobytes = map(int, output.split())
    assert count == games and kilobytes < 20_000
