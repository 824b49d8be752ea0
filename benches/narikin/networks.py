#!/usr/bin/env python3
"""Compares the speed of the network in the executable and of networks with random weights.

    python3 benches/narikin/networks.py [--nodes 200000] [--runs 3] [--narikin target/release/narikin]

Prints nodes per second of CPU time for each evaluation, the median of the runs, which alternate.
"""

import argparse
import hashlib
import pathlib
import random
import resource
import statistics
import struct
import subprocess
import tempfile

GAMES = {"chess": (1, 768), "shogi": (2, 2344)}
BUCKETS = 8
ACTIVATIONS = {"crelu": 1, "screlu": 2}


def network(game: str, hidden: int, activation: str) -> bytes:
    """A file in the format of crates/narikin/docs/network.md with small random weights."""
    number, inputs = GAMES[game]
    draw = random.Random(1)
    content = bytearray(bytes([number, ACTIVATIONS[activation], 1, BUCKETS]))
    content += struct.pack("<HHhhh", inputs, hidden, 255, 64, 400)
    for text in (f"random-{hidden}", "unknown"):
        content += bytes([len(text)]) + text.encode()
    content += struct.pack("<I", 0)

    def numbers(count: int, most: int) -> bytes:
        return struct.pack(f"<{count}h", *(draw.randint(-most, most) for _ in range(count)))

    content += numbers(inputs * hidden, 40) + numbers(hidden, 100)
    content += numbers(BUCKETS * 2 * hidden, 20)
    content += struct.pack(f"<{BUCKETS}i", *[0] * BUCKETS)
    return b"NARIKIN2" + hashlib.sha256(content).digest() + bytes(content)


def speed(narikin: str, game: str, evaluation: str, nodes: int) -> float:
    """Nodes per second of CPU time."""
    lines = f"uci\nsetoption name EvalFile value {evaluation}\nbench {game} 16 1 {nodes} default nodes\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen([narikin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        engine.stdin.write(lines)
        engine.stdin.flush()
        output = []
        while not output or not output[-1].startswith("Nodes/second"):
            line = engine.stdout.readline()
            if not line:
                raise SystemExit(f"{narikin} exited: {output}")
            output.append(line)
        engine.stdin.write("quit\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    fields = dict(line.split(":", 1) for line in output if " : " in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    if not fields["Evaluation"].startswith("network "):
        raise SystemExit(f"{evaluation} was not used: {output}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return int(fields["Nodes searched"]) / used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--narikin", default="target/release/narikin")
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hidden", type=int, nargs="*", default=[128, 256])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for game in GAMES:
            evaluations = {"executable": "<empty>"}
            for activation in ACTIVATIONS:
                for hidden in arguments.hidden:
                    path = pathlib.Path(directory, f"{game}-{activation}-{hidden}.nnue")
                    path.write_bytes(network(game, hidden, activation))
                    evaluations[f"{hidden} {activation}"] = str(path)
            speeds = {name: [] for name in evaluations}
            for _ in range(arguments.runs):
                for name, evaluation in evaluations.items():
                    speeds[name].append(speed(arguments.narikin, game, evaluation, arguments.nodes))
            medians = {name: statistics.median(values) for name, values in speeds.items()}
            for name, median in medians.items():
                print(f"{game} {name}: {median:,.0f} nodes/s, {median / medians['executable']:.2f}", flush=True)


if __name__ == "__main__":
    main()
