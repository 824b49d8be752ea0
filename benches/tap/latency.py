#!/usr/bin/env python3
"""The time that `readyok tap` adds to each move: from the write of `go` to the arrival of `bestmove`.

    benches/tap/latency.py READYOK

An instant engine sends 30 `info` lines and its move. The same game is played with the engine and through the tap, move by move in
turn, so that the load of the machine is the same for both. The engine waits for a byte on its standard input only.
"""

import statistics
import subprocess
import sys
import tempfile
import time

ENGINE = r"""
import sys
out = sys.stdout
pv = " ".join(["g1f3 g8f6 f3g1 f6g8", "b1c3 b8c6 d2d4 d7d5 c1f4 c8f5 e2e3 e7e6"])
lines = "".join(f"info depth {n} score cp 12 nodes {n}000 time {n} pv {pv}\n" for n in range(1, 31))
for line in sys.stdin:
    token = line.split(None, 1)[0] if line.strip() else ""
    if token == "uci":
        out.write("id name Instant\nid author A\nuciok\n")
    elif token == "isready":
        out.write("readyok\n")
    elif token == "go":
        out.write(lines + "bestmove g1f3\n")
    elif token == "quit":
        break
    out.flush()
"""
MOVES = 400


class Session:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.buffer = b""
        self.ask("uci", b"uciok")
        self.ask("isready", b"readyok")

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")

    def ask(self, line, answer):
        """Sends a line and waits for a line that begins with the answer. Returns the time."""
        begin = time.perf_counter()
        self.send(line)
        while True:
            chunk = self.process.stdout.read(1 << 16)
            if not chunk:
                sys.exit("the engine has exited")
            self.buffer += chunk
            if any(line.startswith(answer) for line in self.buffer.split(b"\n")[:-1]):
                self.buffer = b""
                return time.perf_counter() - begin

    def move(self):
        self.send("position startpos")
        return self.ask("go wtime 60000 btime 60000", b"bestmove")

    def end(self):
        self.send("quit")
        self.process.wait()


def main():
    with tempfile.TemporaryDirectory() as directory:
        engine = f"{directory}/engine.py"
        with open(engine, "w") as file:
            file.write(ENGINE)
        direct = [sys.executable, engine]
        sessions = [Session(direct), Session([sys.argv[1], "tap", "--log", f"{directory}/log", "--", *direct])]
        times = ([], [])
        for _ in range(MOVES):
            for session, own in zip(sessions, times):
                own.append(session.move() * 1e6)
        for session in sessions:
            session.end()
        for name, own in zip(("engine", "through tap"), times):
            own.sort()
            print(f"{name:12} {statistics.median(own):8.1f} µs (median) {own[len(own) // 10]:8.1f} µs (10 %)")
        added = [statistics.median(times[1]) - statistics.median(times[0]), times[1][MOVES // 10] - times[0][MOVES // 10]]
        print(f"added        {added[0]:8.1f} µs (median) {added[1]:8.1f} µs (10 %)")


main()
