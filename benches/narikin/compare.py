#!/usr/bin/env python3
"""Compares the speed of Narikin with Stockfish and Fairy-Stockfish.

Measures perft, searched nodes per second with one thread, and the time to a depth with one and two threads. All times are
CPU times, except for the time to depth, which is wall-clock time.
"""

import argparse
import resource
import statistics
import subprocess
import time

CHESS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P4/2N1PN2/PP2BPPP/R1BQ1RK1 w kq - 0 8",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
]
SHOGI = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "ln1gk2nl/1r1s1sgb1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1BSGKS1R1/LN3G1NL b - 13",
    "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
]


class Engine:
    """An engine process with pipes."""

    def __init__(self, command, protocol, options):
        self.protocol = protocol
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send(protocol)
        self.until(protocol + "ok")
        for name, value in options.items():
            self.send(f"setoption name {name} value {value}")
        self.ready()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, prefix):
        lines = []
        for line in self.process.stdout:
            lines.append(line.strip())
            if line.startswith(prefix):
                return lines
        raise SystemExit("the engine exited")

    def ready(self):
        self.send("isready")
        self.until("readyok")

    def search(self, text, go):
        """Searches with an empty hash table. Returns the nodes and the seconds."""
        self.send("usinewgame" if self.protocol == "usi" else "ucinewgame")
        self.ready()
        self.send(f"position {'sfen' if self.protocol == 'usi' else 'fen'} {text}")
        start = time.monotonic()
        self.send(f"go {go}")
        lines = self.until("bestmove")
        passed = time.monotonic() - start
        counts = [line.split() for line in lines if " nodes " in line]
        return int(counts[-1][counts[-1].index("nodes") + 1]), passed

    def perft(self, text, depth):
        self.send(f"position {'sfen' if self.protocol == 'usi' else 'fen'} {text}")
        self.send(f"go perft {depth}")
        line = self.until("Nodes searched")[-1]
        return int(line.split(":")[1])

    def cpu(self):
        """The CPU time so far, in seconds."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def quit(self):
        self.send("quit")
        self.process.wait(10)


def child_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime - before.ru_utime


def perft(arguments):
    print("perft, million lines per second of CPU time")
    for game, text, depth, rival, protocol in [
        ("chess", CHESS[0], 6, arguments.stockfish, "uci"),
        ("chess", CHESS[1], 5, arguments.stockfish, "uci"),
        ("shogi", SHOGI[0], 5, arguments.fairy, "usi"),
    ]:
        output, seconds = child_seconds([arguments.narikin, "perft", game, str(depth), text])
        ours = int(output.split()[0]) / max(seconds, 0.01) / 1e6
        engine = Engine(rival, protocol, {"UCI_Variant": "shogi"} if game == "shogi" else {})
        before = engine.cpu()
        count = engine.perft(text, depth)
        theirs = count / max(engine.cpu() - before, 0.01) / 1e6
        engine.quit()
        assert count == int(output.split()[0]), "counts differ"
        print(f"  {game:6} depth {depth}: narikin {ours:6.1f}  {rival} {theirs:6.1f}  "
              f"ratio {ours / theirs:.2f}")


def speed(arguments):
    print(f"search, thousand nodes per second of CPU time, {arguments.nodes} nodes each")
    for game, texts, rival, protocol in [
        ("chess", CHESS, arguments.stockfish, "uci"),
        ("shogi", SHOGI, arguments.fairy, "usi"),
    ]:
        speeds = []
        for command in [arguments.narikin, rival]:
            engine = Engine(command, protocol, {})
            before, nodes = engine.cpu(), 0
            for text in texts:
                nodes += engine.search(text, f"nodes {arguments.nodes}")[0]
            speeds.append(nodes / (engine.cpu() - before) / 1000)
            engine.quit()
        ours, theirs = speeds
        print(f"  {game:6}: narikin {ours:7.0f}  {rival} {theirs:7.0f}  ratio {ours / theirs:.2f}")


def depth(arguments):
    print("time to depth, seconds, median of three; and how much faster two threads are")
    for game, texts, protocol, plies in [
        ("chess", CHESS, "uci", arguments.chess_depth),
        ("shogi", SHOGI, "usi", arguments.shogi_depth),
    ]:
        seconds = []
        for threads in [1, 2]:
            engine = Engine(arguments.narikin, protocol, {"Threads": threads})
            times = [sum(engine.search(text, f"depth {plies}")[1] for text in texts) for _ in range(3)]
            seconds.append(statistics.median(times))
            engine.quit()
        one, two = seconds
        print(f"  {game:6} depth {plies}: 1 thread {one:.2f}  2 threads {two:.2f}  "
              f"faster by {one / two:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narikin", default="target/release/narikin")
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    parser.add_argument("--fairy", default="/usr/games/fairy-stockfish")
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--chess-depth", type=int, default=16)
    parser.add_argument("--shogi-depth", type=int, default=13)
    arguments = parser.parse_args()
    perft(arguments)
    speed(arguments)
    depth(arguments)


if __name__ == "__main__":
    main()
