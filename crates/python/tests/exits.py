"""Programs that end during or after searches, in every way: none aborts, and no engine outlives its program.

Usage: exits.py COUNT
"""

import os
import random
import signal
import subprocess
import sys
import time

ENGINE = "ENGINE"
BEGIN = {
    "blocking": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True); search = engine.analyse(position)",
    "unguarded": "engine = readyok.Engine(ENGINE, guard=False); print(engine.pid, flush=True); search = engine.analyse(position)",
    "iterated": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True); search = engine.analyse(position); next(search)",
    "finished": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True); engine.play(position, nodes=1)",
    "daemon": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True)\n"
    "threading.Thread(target=lambda: engine.analyse(position).wait(), daemon=True).start()",
    "daemons": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True)\n"
    "def work():\n    while True: engine.analyse(position, nodes=100).wait()\n"
    "for _ in range(4): threading.Thread(target=work, daemon=True).start()",
    "reader": "engine = readyok.Engine(ENGINE); print(engine.pid, flush=True)\n"
    "def work():\n    while True: sum(len(g) for g in readyok.read(b'1. e4 e5 *\\n\\n' * 10000))\n"
    "for _ in range(3): threading.Thread(target=work, daemon=True).start()",
    "tasks": None,
}
END = {
    "end": "pass",
    "exit": "sys.exit(3)",
    "raise": "raise RuntimeError",
    "_exit": "os._exit(4)",
    "interrupt": "os.kill(os.getpid(), signal.SIGINT); time.sleep(30)",
    "terminate": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL); time.sleep(30)",
    "close": "engine.close()",
    "wait": "threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start(); engine.analyse(position).wait()",
    "cycle": "class Cycle: pass\ncycle = Cycle(); cycle.self, cycle.engine = cycle, engine",
}
TASKS = """
async def main():
    global engine
    engine = await readyok.Engine.open(ENGINE); print(engine.pid, flush=True)
    tasks = [asyncio.ensure_future(engine.begin(position)), asyncio.ensure_future(engine.ready_async())]
    await asyncio.sleep(DELAY)
{end}
asyncio.run(main())
"""
HEAD = """import asyncio, os, signal, sys, threading, time, readyok
# Shells start programs in the background with this signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
ENGINE = {engine!r}; DELAY = {delay}; position = readyok.Position()
"""
# Statuses: of the program itself, and of the signals that it sends to itself.
EXPECTED = {0, 1, 3, 4, 130, -signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL}


def program(begin, end, engine, delay):
    head = HEAD.format(engine=engine, delay=delay)
    if BEGIN[begin] is None:
        # Signals only cancel the main task, so it must wait in the loop.
        lines = END[end].replace("time.sleep(30)", "await asyncio.sleep(30)").replace("engine.analyse(position).wait()", "await engine.begin(position)")
        body = "\n".join("    " + line for line in lines.splitlines())
        return head + TASKS.format(end=body)
    return head + BEGIN[begin] + f"\ntime.sleep({delay})\n" + END[end] + "\n"


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def run(count, engine="stockfish", python=sys.executable):
    """Returns the failures."""
    dice, failures, engines = random.Random(count), [], []
    cases = [(begin, end) for begin in BEGIN for end in END]
    dice.shuffle(cases)
    for number in range(count):
        begin, end = cases[number % len(cases)]
        code = program(begin, end, engine, dice.choice((0, 0, 0.01, 0.05)))
        child = subprocess.Popen([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, errors = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            failures.append(f"{begin}, {end}: still running after 60 s")
            continue
        if child.returncode not in EXPECTED:
            failures.append(f"{begin}, {end}: status {child.returncode}: {errors[-2000:]}")
        if "panicked" in errors or "Fatal Python error" in errors:
            failures.append(f"{begin}, {end}: {errors[-2000:]}")
        if not out.strip():
            failures.append(f"{begin}, {end}: no engine was started: {errors[-2000:]}")
        else:
            engines.append((f"{begin}, {end}", int(out)))
    deadline = time.monotonic() + 20
    while (leaked := [engine for engine in engines if is_running(engine[1])]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return failures + [f"{case}: engine {pid} is running" for case, pid in leaked]


if __name__ == "__main__":
    FAILURES = run(int(sys.argv[1]))
    print("\n".join(FAILURES) or f"{sys.argv[1]} programs: no abort, no leaked engine")
    sys.exit(1 if FAILURES else 0)
