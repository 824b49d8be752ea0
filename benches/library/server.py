#!/usr/bin/env python3
"""Times and memory of the app's server with a large library:

    server.py READYOK DATA [PGN]

DATA is a data directory, whose `library.sqlite` can be the file of `cargo bench -p readyok-library -- 1000000 FILE.sqlite`.
A PGN file is imported, then all games are exported.
"""
import json, re, signal, subprocess, sys, time, urllib.parse, urllib.request

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Server:
    def __init__(self, program, data):
        command = [program, "serve", "--no-open", "--allow-root", "--data", data]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.host, token = re.search(r"http://([^/]+)/\?token=(\S+)", self.process.stdout.readline()).groups()
        self.session = None
        self.session = self.post("/api/login", json.dumps({"token": token}).encode())["session"]

    def post(self, path, body, kind="application/json"):
        headers = {"Content-Type": kind, "Origin": f"http://{self.host}"}
        if self.session:
            headers["Authorization"] = f"Bearer {self.session}"
        request = urllib.request.Request(f"http://{self.host}{path}", body, headers)
        return json.load(urllib.request.urlopen(request))

    def memory(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            size = re.search(name + r":\s+(\d+)", file.read()).group(1)
        return f"{int(size) / 1024:.0f} MB"

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")")[-1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def timed(self, name, path, body):
        times = []
        for _ in range(9):
            start = time.perf_counter()
            self.post(path, json.dumps(body).encode())
            times.append((time.perf_counter() - start) * 1000)
        first = times[0]
        times.sort()
        memory = f"{self.memory('VmRSS')} | {self.memory('RssAnon')}"
        print(f"| {name} | {times[4]:.0f} | {first:.0f} | {times[-1]:.0f} | {memory} |", flush=True)

    def export(self):
        of = urllib.parse.quote(json.dumps({"kind": "filter", "filter": {}}))
        url = f"http://{self.host}/api/export?of={of}&format=pgn"
        headers = {"Origin": f"http://{self.host}", "Authorization": f"Bearer {self.session}"}
        cpu, games = self.cpu(), 0
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            while part := answer.read(1 << 20):
                games += part.count(b"[Event ")
        print(f"\nexport: {games} games, {games / (self.cpu() - cpu):.0f} games per CPU second")


def main():
    server = Server(*sys.argv[1:3])
    print("| query | median ms | first ms | worst ms | memory | of this not mapped |\n|---|--:|--:|--:|--:|--:|")
    for name, query in [
        ("all games", {}),
        ("player", {"player": "name77"}),
        ("sorted by player", {"sort": "first", "ascending": True}),
        ("sorted by player, page 10,000", {"sort": "first", "ascending": True, "offset": 500_000}),
        ("player, sorted by event", {"player": "name77", "sort": "event", "ascending": True}),
        ("sorted by event", {"sort": "event"}),
        ("sorted by opening", {"sort": "opening"}),
        ("sorted by date", {"sort": "date"}),
        ("minimum rating", {"min_rating": 2500}),
        ("opening", {"named": "sicilian"}),
        ("position", {"position": START}),
    ]:
        server.timed(name, "/api/library/search", query)
    for name, filter in [("explorer", {}), ("explorer, minimum rating", {"min_rating": 2500})]:
        source = {"kind": "library", "filter": filter}
        server.timed(name, "/api/explorer", {"variant": "chess", "position": START, "source": source})
    for path in sys.argv[3:]:
        with open(path, "rb") as file:
            body = file.read()
        cpu, start = server.cpu(), time.perf_counter()
        imported = server.post("/api/import?name=a.pgn", body, "application/octet-stream")
        cpu, seconds = server.cpu() - cpu, time.perf_counter() - start
        new, known = imported["total"], imported["duplicates"]
        rates = f"{(new + known) / cpu:.0f} games per CPU second, {(new + known) / seconds:.0f} per second"
        print(f"\nimport: {new} games, {known} duplicates; {rates}")
    server.export()
    print(f"\nmaximum of the memory: {server.memory('VmHWM')}")
    server.process.send_signal(signal.SIGINT)
    server.process.wait()


if __name__ == "__main__":
    main()
