#!/usr/bin/env python3
"""Runs the parsers of the workers of OpenBench and fishtest over the output of a match, and prints what they count as JSON.

    match_workers.py DIRECTORY GAMES < OUTPUT

DIRECTORY has the checkouts of scripts/install-match-workers.sh, GAMES is the number of games of the match.
"""
import contextlib
import io
import json
import sys
import threading
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock


def stub(*names):
    """Third-party modules that the parsers do not use."""
    for name in names:
        module = ModuleType(name)
        module.__getattr__ = lambda _: MagicMock()
        sys.modules[name] = module


class Process:
    """A process that has printed its output and ended."""

    def __init__(self, output):
        self.stdout, self.stderr = io.BytesIO(output), io.BytesIO(b"")

    def poll(self):
        return 0


def open_bench(directory, output):
    sys.path.insert(0, str(directory / "openbench" / "Client"))
    stub("cpuinfo", "psutil", "requests")
    import queue

    import worker

    worker.Popen = lambda *_, **__: Process(output)
    results = queue.Queue()
    worker.run_and_parse_runner({}, "runner", 0, results, threading.Event())
    sums = {"trinomial": [0] * 3, "pentanomial": [0] * 5, "crashes": 0, "timelosses": 0, "illegals": 0}
    while not results.empty():
        sent = results.get()
        for name, value in sums.items():
            if isinstance(value, list):
                sums[name] = [one + other for one, other in zip(value, sent[name])]
            else:
                sums[name] += sent[name]
    return sums


def fishtest(directory, output, games):
    sys.path.insert(0, str(directory / "fishtest" / "worker"))
    stub("requests")
    import games as parser

    def quoted(message):
        """The line of the output in a message."""
        return message.split("'", 1)[1][:-1]

    warnings = []
    parser.post_to_worker_log = lambda *args, **_: warnings.append(quoted(args[3]))
    parser.send_api_post_request = lambda *_, **__: {"task_alive": True}
    process = Process(b"")
    process.stdout, process.stderr = io.StringIO(output.decode()), io.StringIO("")
    stats = {"wins": 0, "losses": 0, "draws": 0, "crashes": 0, "time_losses": 0, "pentanomial": [0] * 5}
    result, pgn, error = {"stats": stats}, {}, None
    try:
        parser.parse_fastchess_output(
            process, "New-0123456789", "Base-0123456789", {"task_id": 1}, {}, "", "", result, None, games, 2, 60,
            pgn, "run", "task",
        )
    except parser.RunException as failure:
        error = quoted(str(failure))
    except parser.WorkerException as failure:
        error = f"worker: {failure}"
    return {**result["stats"], "warnings": warnings, "error": error, "checksum": pgn.get("CRC")}


def main():
    directory, games = Path(sys.argv[1]), int(sys.argv[2])
    output = sys.stdin.buffer.read()
    with contextlib.redirect_stdout(io.StringIO()):
        counted = {"openbench": open_bench(directory, output), "fishtest": fishtest(directory, output, games)}
    json.dump(counted, sys.stdout)


main()
