"""The latency of python-chess with an instant engine, as a line of JSON.

usage: latency.py ENGINE SAMPLES
"""

import asyncio
import json
import sys
import time

import chess
import chess.engine


def percentiles(samples):
    """Percentiles in microseconds, without interpolation."""
    samples.sort()
    rank = lambda part: samples[min(int(len(samples) * part), len(samples) - 1)] / 1000
    return {
        "p50": rank(0.5),
        "p90": rank(0.9),
        "p99": rank(0.99),
        "p99.9": rank(0.999),
        "max": rank(1),
    }


async def go(engine, board, game):
    start = time.perf_counter_ns()
    result = await engine.play(board, chess.engine.Limit(nodes=1), game=game)
    end = time.perf_counter_ns()
    assert result.move == chess.Move.from_uci("e2e4")
    return end - start


async def stop(engine, board, game):
    with await engine.analysis(board, game=game) as analysis:
        # The first info shows that the search is running.
        await analysis.get()
        start = time.perf_counter_ns()
        analysis.stop()
        await analysis.wait()
        return time.perf_counter_ns() - start


async def main(path, count):
    _, engine = await chess.engine.popen_uci(path)
    board, game = chess.Board(), object()
    for move in 20 * ["g1f3", "g8f6", "f3g1", "f6g8"]:
        board.push_uci(move)
    report = {"client": f"python-chess {chess.__version__}", "unit": "us", "samples": count}
    for name, measure in (("go", go), ("stop", stop)):
        for _ in range(count // 10):
            await measure(engine, board, game)
        before = time.process_time_ns()
        samples = [await measure(engine, board, game) for _ in range(count)]
        if name == "go":
            report["cpu_per_ply"] = round((time.process_time_ns() - before) / count / 1000, 1)
        report[name] = percentiles(samples)
    await engine.quit()
    print(json.dumps(report))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
