#!/usr/bin/env python3
"""Prints balanced positions after a few random moves, as openings for matches.

Needs the packages `chess` and `cshogi` of PyPI, and Stockfish or Fairy-Stockfish of Debian.
"""

import random
import subprocess
import sys

import chess
import cshogi


class Judge:
    """An engine that evaluates positions."""

    def __init__(self, command, protocol):
        self.process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send(protocol)
        list(self.until(protocol + "ok"))

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, prefix):
        for line in self.process.stdout:
            yield line
            if line.startswith(prefix):
                return

    def is_even(self, position, limit):
        self.send(f"position {position}")
        self.send("go nodes 3000")
        score = None
        for line in list(self.until("bestmove")):
            tokens = line.split()
            if "score" in tokens:
                kind, value = tokens[tokens.index("score") + 1 :][:2]
                score = int(value) if kind == "cp" else None
        return score is not None and abs(score) <= limit


def random_position(board, plies):
    """Plays random moves. None if the game ends."""
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
        start, text, command, plies, limit = chess.Board, lambda it: it.fen(), "fen", [8, 9], 90
    else:
        judge = Judge("/usr/games/fairy-stockfish", "usi")
        start, text, command, plies, limit = cshogi.Board, lambda it: it.sfen(), "sfen", [8, 9, 10], 250
    found = {}
    while len(found) < count:
        board = random_position(start(), random.choice(plies))
        if board is not None and list(board.legal_moves) and text(board) not in found:
            if judge.is_even(f"{command} {text(board)}", limit):
                found[text(board)] = None
    print("\n".join(found))


if __name__ == "__main__":
    main()
