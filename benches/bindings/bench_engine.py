#!/usr/bin/env python3
"""Times of engines against python-chess, as a table in Markdown.

Usage: bench_engine.py [--engine PROGRAM] [--quick] [--check]
"""

import argparse
import asyncio
import logging
import statistics
import subprocess
import sys
import time

import chess
import chess.engine
import readyok

from table import Table

LINE = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6".split()
PEER = "python-chess"
# Seconds of a search before it is cancelled, and until the next answer counts as missing.
BEFORE_CANCEL = 0.05
ANSWER_LIMIT = 10
# At least 1 / 1.2: a start takes at most 1.2 times as long.
START_GOAL = 1 / 1.2
# The first engine of a program also starts the guard, once for all engines.
FIRST = """
import sys, time
kind, program = sys.argv[1:]
if kind == "peer":
    import chess.engine
    start = time.perf_counter()
    chess.engine.SimpleEngine.popen_uci(program).quit()
else:
    import readyok
    start = time.perf_counter()
    readyok.Engine(program, guard=kind == "guard").close()
print(time.perf_counter() - start)
"""


def median(call):
    """Seconds of calls, of which there are `rounds`."""

    def measured(rounds):
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    return measured


def alternate(measures, rounds, batches=3):
    """The lowest median of some batches of each contender; they alternate."""
    for measure in measures:
        measure(1)
    return [min(times) for times in zip(*([measure(rounds) for measure in measures] for _ in range(batches)))]


def starts(table, program, rounds):
    def first(kind):
        def seconds(rounds):
            command = [sys.executable, "-c", FIRST, kind, program]
            times = [float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(rounds)]
            return statistics.median(times)

        return seconds

    def quit_peer():
        chess.engine.SimpleEngine.popen_uci(program).quit()

    first_times = alternate([first("guard"), first("unguarded"), first("peer")], rounds)
    later = [lambda: readyok.Engine(program).close(), lambda: readyok.Engine(program, guard=False).close(), quit_peer]
    later_times = alternate([median(call) for call in later], rounds)
    for name, times in (("the first engine", first_times), ("a later engine", later_times)):
        guarded, unguarded, peer = times
        table.add(f"start + quit, {name}", guarded, PEER, peer, START_GOAL)
        table.add(f"start + quit, {name}, without guard", unguarded, PEER, peer)


def blocking(table, program, rounds):
    position, board = readyok.Position(moves=LINE), chess.Board()
    for move in LINE:
        board.push_uci(move)
    limit = chess.engine.Limit(nodes=1)
    with readyok.Engine(program) as engine, chess.engine.SimpleEngine.popen_uci(program) as peer:
        calls = [lambda: engine.play(position, nodes=1), lambda: peer.play(board, limit)]
        ours, theirs = alternate([median(call) for call in calls], rounds)
        table.add("`play(nodes=1)`, blocking", ours, PEER, theirs, 2)

        # New games, so that each search does the same.
        def analyse():
            with engine.analyse(position, depth=9, lines=20, new_game=True) as search:
                for info in search:
                    info.pv

        def peer_analysis():
            limit = chess.engine.Limit(depth=9)
            with peer.analysis(board, limit, multipv=20, game=object()) as analysis:
                for info in analysis:
                    info.get("pv")

        def cpu(call):
            def seconds(rounds):
                times = []
                for _ in range(max(1, rounds // 20)):
                    start = time.process_time()
                    call()
                    times.append(time.process_time() - start)
                return statistics.median(times)

            return seconds

        ours, theirs = alternate([cpu(analyse), cpu(peer_analysis)], rounds)
        table.add("own CPU, an analysis of 20 lines", ours, PEER, theirs)


async def tasks(table, program, rounds):
    position, board = readyok.Position(moves=LINE), chess.Board()
    for move in LINE:
        board.push_uci(move)
    engine = await readyok.Engine.open(program)
    transport, peer = await chess.engine.popen_uci(program)

    async def ours(**limits):
        await engine.begin(position, **limits)

    async def theirs(**limits):
        await peer.play(board, chess.engine.Limit(**limits))

    async def answer(play):
        start = time.perf_counter()
        await play(nodes=1)
        return time.perf_counter() - start

    async def answer_after_cancel(play):
        task = asyncio.create_task(play(time=1000))
        await asyncio.sleep(BEFORE_CANCEL)
        start = time.perf_counter()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        await asyncio.wait_for(play(nodes=1), ANSWER_LIMIT)
        return time.perf_counter() - start

    async def lowest(measure, rounds, batches=3):
        best = [float("inf")] * 2
        for _ in range(batches):
            for index, play in enumerate((ours, theirs)):
                times = [await measure(play) for _ in range(rounds)]
                best[index] = min(best[index], statistics.median(times))
        return best

    first, second = await lowest(answer, rounds)
    table.add("`play(nodes=1)`, asyncio", first, PEER, second, 2)
    first, second = await lowest(answer_after_cancel, max(1, rounds // 6))
    table.add("next answer after a cancelled search", first, PEER, second)
    await engine.close_async()
    await peer.quit()
    transport.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--engine", default="stockfish", help="a UCI engine, %(default)s by default")
    parser.add_argument("--quick", action="store_true", help="few rounds: a test of this script")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    table = Table()
    rounds = 6 if arguments.quick else 60
    blocking(table, arguments.engine, rounds)
    asyncio.run(tasks(table, arguments.engine, rounds))
    starts(table, arguments.engine, 1 if arguments.quick else 5)
    table.print()
    return 1 if arguments.check and table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
