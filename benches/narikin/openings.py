#!/usr/bin/env python3
"""Prints even positions after a few random moves, as openings for matches.

Needs the packages `chess` and `cshogi` of PyPI, and Stockfish or Fairy-Stockfish of Debian.
"""

import random
import subprocess
import sys

import chess
import cshogi


class Judge:
    """An engine that says how even a position is."""

    def __init__(self, command, protocol):
        self.process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send(protocol)
        list(self.until(protocol + "ok"))

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, word):
        for line in self.process.stdout:
            yield line
            if line.startswith(word):
                return

    def is_even(self, position, most):
        self.send(f"position {position}")
        self.send("go nodes 3000")
        score = None
        for line in list(self.until("bestmove")):
            words = line.split()
            if "score" in words:
                kind, value = words[words.index("score") + 1 :][:2]
                score = int(value) if kind == "cp" else None
        return score is not None and abs(score) <= most


def random_position(board, plies):
    """Plays random moves; None if the game ends."""
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return None
        board.push(random.choice(moves))
    return board


def main():
    game, count = sys.argv[1], int(sys.argv[2])
    random.seed(7)
    if game == "chess":
        judge = Judge("/usr/games/stockfish", "uci")
        start, text, command, plies, most = chess.Board, lambda it: it.fen(), "fen", [8, 9], 90
    else:
        judge = Judge("/usr/games/fairy-stockfish", "usi")
        start, text, command, plies, most = cshogi.Board, lambda it: it.sfen(), "sfen", [8, 9, 10], 250
    found = {}
    while len(found) < count:
        board = random_position(start(), random.choice(plies))
        if board is not None and list(board.legal_moves) and text(board) not in found:
            if judge.is_even(f"{command} {text(board)}", most):
                found[text(board)] = None
    print("\n".join(found))


if __name__ == "__main__":
    main()
