#!/usr/bin/env python3
"""Times and memory of changes of large open games in the app's server:

    saving.py READYOK PGN [EDITS]

Each tree is opened and edited by a tab. The PGN file is imported meanwhile, so that saves compete with it.
"""
import base64, json, os, pathlib, shutil, signal, socket, struct, sys, tempfile, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "library"))
from server import Server

CYCLES = [["Nf3", "Nf6", "Ng1", "Ng8"], ["Nc3", "Nc6", "Nb1", "Nb8"]]


def tree(nodes):
    """A main line of 500 plies with a variation for each, of moves of the other knights."""
    plies = 500
    length = nodes // plies - 1
    text = ['[Event "?"]', ""]
    for ply in range(plies):
        number = lambda at: f"{at // 2 + 1}. " if at % 2 == 0 else f"{at // 2 + 1}... "
        text.append(number(ply) + CYCLES[0][ply % 4])
        # The other knights begin at home.
        line = CYCLES[1] if ply % 2 == 0 else ["Nc6", "Nc3", "Nb8", "Nb1"]
        text.append(f"({number(ply)}" + " ".join(line[at % 4] for at in range(length)) + ")")
    return "\n".join(text + ["*", ""])


class Tab:
    """A client of the WebSocket."""

    def __init__(self, server):
        host, port = server.host.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /api/ws HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\n"
            f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Protocol: readyok, {server.session}\r\n\r\n".encode()
        )
        self.file = self.socket.makefile("rb", 1 << 20)
        while self.file.readline().strip():
            pass
        self.last, self.sizes = 0, 0

    def receive(self):
        while True:
            head = self.file.read(2)
            length = head[1] & 127
            if length > 125:
                length = struct.unpack("!H" if length == 126 else "!Q", self.file.read(2 if length == 126 else 8))[0]
            content = self.file.read(length)
            if head[0] & 15 in (1, 2):
                self.sizes = length
                return json.loads(content)

    def send(self, message):
        body = json.dumps(message).encode()
        size = len(body)
        head = struct.pack("!BB", 129, 128 | size) if size < 126 else struct.pack("!BBH", 129, 254, size)
        self.socket.sendall(head + b"\0\0\0\0" + body)

    def ask(self, command):
        """Times in ms until the first change and until the answer, and the size of the change."""
        self.last += 1
        start, changed, size = time.perf_counter(), None, 0
        self.send({"id": self.last, "command": command})
        while True:
            message = self.receive()
            now = (time.perf_counter() - start) * 1000
            if message["kind"] == "delta" and changed is None:
                changed, size = now, self.sizes
            if message.get("id") == self.last:
                if message["kind"] == "error":
                    sys.exit(f"{command}: {message}")
                return changed or now, now, size


def row(name, values):
    values = sorted(values)
    at = lambda share: values[min(len(values) - 1, int(len(values) * share))]
    print(f"| {name} | {at(0.5):.2f} | {at(0.99):.2f} | {values[-1]:.2f} |", flush=True)


def measure(program, pgn, nodes, edits):
    data = tempfile.mkdtemp()
    try:
        server = Server(program, data)
        idle = server.memory("VmRSS")
        opened = server.post("/api/import?name=tree.pgn&open=true", tree(nodes).encode(), "application/octet-stream")
        game = opened["opened"]
        tab = Tab(server)
        tab.ask({"kind": "subscribe", "topic": f"game/{game}"})
        comment = lambda at: {"kind": "edit", "game": game, "edit": {"kind": "comment", "node": 1 + at * 37 % (nodes // 2), "comments": [f"edit {at}"]}}
        print(f"\n| {nodes} nodes | median ms | 99 % | worst |\n|---|--:|--:|--:|")
        # White is to move after the moves of Black in the main line.
        black = range(1, 401, 4)
        moves = [tab.ask({"kind": "move", "game": game, "node": 1 + at * (nodes // 500), "text": "a3"}) for at in black][1:]
        row("move: change at the page", [it[0] for it in moves])
        row("move: saved", [it[1] for it in moves])
        tab.ask(comment(0))
        undo = tab.ask({"kind": "edit", "game": game, "edit": {"kind": "undo"}})
        body = open(pgn, "rb").read()
        done = threading.Event()

        def run():
            while not done.is_set():
                server.post("/api/import?name=a.pgn&duplicates=keep", body, "application/octet-stream")

        imports = threading.Thread(target=run, daemon=True)
        imports.start()
        times = []
        for at in range(edits):
            times.append(tab.ask(comment(at)))
            time.sleep(0.02)
        done.set()
        imports.join()
        row("comment during an import: change at the page", [it[0] for it in times])
        row("comment during an import: saved", [it[1] for it in times])
        print(f"\ndelta of an undone comment: {undo[2]} bytes")
        print(f"memory: idle {idle}, now {server.memory('VmRSS')}, maximum {server.memory('VmHWM')}")
        server.process.send_signal(signal.SIGINT)
        server.process.wait()
    finally:
        shutil.rmtree(data)


def main():
    program, pgn = sys.argv[1:3]
    edits = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    for nodes in [10_000, 99_000]:
        measure(program, pgn, nodes, edits)


if __name__ == "__main__":
    main()
