"""Plays matches with `readyok match`. Interrupted matches are resumed."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

OPENINGS = {"chess": "chess.epd", "shogi": "shogi.sfen"}


def openings_of(game):
    return str(ROOT / "testdata/openings" / OPENINGS[game])


def pairs_of(arguments, plan, results):
    """Plays or resumes a match. Returns the numbers of game pairs by half points."""
    output = subprocess.run(
        [
            *(arguments.readyok, "match", "--json", "--plan", plan),
            *("--resume" if results.exists() else "--results", results),
            *("--concurrency", str(arguments.concurrency)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    scores = [event for event in map(json.loads, output.splitlines()) if event["event"] == "score"]
    two_losses, loss_draw, one_each, two_draws, draw_win, two_wins = scores[-1]["pairs"]
    return [two_losses, loss_draw, one_each + two_draws, draw_win, two_wins]
