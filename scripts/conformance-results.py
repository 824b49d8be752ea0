#!/usr/bin/env python3
"""Writes docs/conformance-results.md: results of `readyok check` for third-party engines and clients.

Usage: scripts/conformance-results.py [--only TEXT] [--jobs N] [--timeout-scale X] [--json DIRECTORY [--stored]] [READYOK]

READYOK is the executable, by default target/release/readyok; the example `asks` of readyok-check must be next to it.
scripts/install-engines.sh and scripts/install-clients.sh install the programs of Debian and PyPI. Programs of npm and
crates.io are searched in the directory $READYOK_ENGINES, with the names below. The page lists missing programs. --json
stores the reports with their transcripts, and reuses stored reports. Each program runs with a temporary home and working
directory.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance-results.md"
PYTHON = ROOT / "target/clients/bin/python"
XBOARD = r"printf 'xboard\nprotover 2\nnew\nlevel 40 1 0\nsd 2\ngo\n'; sleep 3; printf 'quit\n'"

# Checks whose result depends on the machine.
EXCLUDED = ["handshake.quick"]

# Common causes of several failures.
SJAAK = "It reads no input during a search: `stop`, `isready` and `quit` are handled after the search."
THREADS = "After `Threads` is set, even to 1, it no longer replies: `options.every-value` and `search.every-thread-count`."
NOTES = {
    "Ethereal 12.00 (Debian)": "A `stop` within milliseconds of `go` is ignored, and later commands are not answered:"
    " `search.immediate-stop`, `search.interleavings`, `state.go-stop-go`.",
    "Sjaak II 1.4.1 (Debian)": SJAAK,
    "Sjaak II 1.4.1 (Debian), USI": SJAAK + " It does not parse drops in USI notation (`Bad move B*4e in movelist!`).",
    "GPS Shogi 0.7 (Debian), USI": "It exits on each `go` with a token other than `btime`, `wtime`, `byoyomi`, `infinite` and"
    " `mate` (`unknown option in go …`). Other checks use byoyomi.",
    "Stockfish 10 (npm)": THREADS,
    "Stockfish 11 (npm)": THREADS,
}

# Name, command, additional arguments of `readyok check`.
ENGINES = [
    ("Stockfish 15.1 (Debian)", ["stockfish"], []),
    ("Fairy-Stockfish 11.1 (Debian)", ["fairy-stockfish"], []),
    ("Fairy-Stockfish 11.1 (Debian), USI", ["fairy-stockfish"], ["--usi"]),
    ("Ethereal 12.00 (Debian)", ["ethereal-chess"], []),
    ("GNU Chess 6.2.7 (Debian), `--uci`", ["gnuchess", "--uci"], []),
    ("Toga II 3.0 (Debian)", ["toga2"], []),
    ("Glaurung 2.2 (Debian)", ["glaurung"], []),
    ("Sjaak II 1.4.1 (Debian)", ["sjaakii"], []),
    ("Sjaak II 1.4.1 (Debian), USI", ["sjaakii"], ["--usi"]),
    ("GPS Shogi 0.7 (Debian), USI", ["gpsusi"], ["--usi"]),
    ("sekirei 0.5.2 (crates.io), USI", ["crates-sekirei-0.5.2"], ["--usi"]),
    ("Stockfish 6 (npm)", ["npm-stockfish-6"], []),
    ("Stockfish 10 (npm)", ["npm-stockfish-10"], []),
    ("Stockfish 11 (npm)", ["npm-stockfish-11"], []),
    ("Stockfish 16 (npm)", ["npm-stockfish-16"], []),
    ("Stockfish 17.1 lite (npm)", ["npm-stockfish-17.1-lite"], []),
    ("Stockfish 18 lite (npm)", ["npm-stockfish-18-lite"], []),
    ("Stockfish 19 lite (npm)", ["npm-stockfish-19-lite"], []),
]

# Name, command with {engine}, additional arguments. {asks} is the path of the example.
CLIENTS = [
    ("`asks`, the example of our client library", ["{asks}", "{engine}"], []),
    ("`asks`, USI", ["{asks}", "--usi", "{engine}"], []),
    ("python-chess 1.11.2 (PyPI)", [str(PYTHON), str(ROOT / "scripts/clients/python-chess.py"), "{engine}"], []),
    ("PolyGlot 2.0.4 (Debian), driven like by XBoard", ["sh", "-c", "{ " + XBOARD + "; } | polyglot -noini -ec {engine}"], []),
    (
        "XBoard 4.9.1 (Debian) with PolyGlot",
        [
            "sh", "-c",
            "exec xvfb-run -a xboard -noGUI -mg 1 -tc 1 -inc 0 -depth 1"
            " -fcp 'polyglot -noini -ec {engine}' -scp 'polyglot -noini -ec {engine}'",
        ],
        [],
    ),
]


def find_program(program):
    """The path of an installed program."""
    directories = [os.environ.get("READYOK_ENGINES", ""), os.environ["PATH"]]
    return shutil.which(program, path=os.pathsep.join(filter(None, directories)))


def plain(text):
    """Escapes text for Markdown, except between backticks."""
    parts = " ".join(text.split()).split("`")
    escaped = [re.sub(r"([\\*_\[\]<>#|&])", r"\\\1", part) for part in parts]
    if len(parts) % 2 == 0:
        return r"\`".join(escaped)
    return "`".join(parts[at] if at % 2 else escaped[at] for at in range(len(parts)))


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def osl_home(home):
    """A data directory of GPS Shogi where it cannot store options."""
    directory = home / "osl"
    (directory / "gpsusi.conf").mkdir(parents=True)
    (directory / "data").symlink_to("/usr/share/gpsshogi-data/data")
    return str(directory)


def report(readyok, store, name, arguments, options):
    """The report of a program, or an error message."""
    path = store / f"{slug(name)}.json" if store else None
    if path and path.exists():
        return parse_report(path.read_text()), ""
    print(f"{name} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as home:
        # Some programs store their options in the home directory.
        environment = {**os.environ, "HOME": home, "OSL_HOME": osl_home(Path(home))}
        command = [readyok, "check", "--json", *options, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home, env=environment)
    if not done.stdout:
        return None, done.stderr.strip()
    if path:
        store.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout)
    return parse_report(done.stdout), ""


def parse_report(text):
    """A report without the excluded checks."""
    # Replaces the path of the mock engine.
    found = json.loads(re.sub(r"/[^\s\"']*/readyok\b", "{engine}", text))
    found["checks"] = [check for check in found["checks"] if check["id"] not in EXCLUDED]
    return found


def row(name, found):
    counts = {severity: {} for severity in ("must", "should", "may")}
    for check in found["checks"]:
        of = counts[check["severity"]]
        of[check["verdict"]] = of.get(check["verdict"], 0) + 1
    cells = []
    for of in counts.values():
        run = sum(count for verdict, count in of.items() if verdict != "skip")
        cells.append(f"{of.get('pass', 0)} of {run}")
    return f"| {name} | {' | '.join(cells)} |"


def common_exits(bad):
    """Exit statuses that occur in more than ten checks."""
    ends = [match[0] for it in bad if (match := re.search(r"the engine exited \(.*\)$", it["text"]))]
    return [(end, ends.count(end)) for end in sorted(set(ends)) if 10 < ends.count(end)]


def section(name, found):
    lines = [f"\n### {name}\n"]
    if name in NOTES:
        lines.append(f"{NOTES[name]}\n")
    bad = [it for it in found["checks"] if it["verdict"] == "fail" and it["severity"] != "may"]
    for cause, count in common_exits(bad):
        same = [it for it in bad if it["text"].endswith(cause)]
        bad = [it for it in bad if it not in same]
        ids = ", ".join(f"`{it['id']}`" for it in same)
        lines.append(f"- In {count} checks with a search {cause}: {ids}.")
    for check in sorted(bad, key=lambda it: it["severity"] != "must"):
        lines.append(f"- {check['severity']} `{check['id']}`: {check['rule']}. Seen: {plain(check['text'])}.")
    if not bad:
        lines.append("No must and no should is violated.")
    for check in found["checks"]:
        if check["verdict"] == "inconclusive":
            lines.append(f"- inconclusive `{check['id']}`: {plain(check['text'])}.")
    if found["side"] == "client":
        remarks = [it for it in found["checks"] if it["verdict"] == "pass" and it["remark"]]
        if remarks:
            lines.append("\nBehavior with failing engines:\n")
        lines += [f"- `{it['id']}`: {plain(it['remark'])}." for it in remarks]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readyok", nargs="?", default=str(ROOT / "target/release/readyok"))
    parser.add_argument("--only", default="", help="run only programs whose names contain this text, and print the result")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--timeout-scale", metavar="X", default="1", help="multiply all timeouts by this factor")
    parser.add_argument("--json", type=Path, metavar="DIRECTORY")
    parser.add_argument("--stored", action="store_true", help="start no program, use stored reports only")
    args = parser.parse_args()
    readyok = str(Path(args.readyok).resolve())
    # Debian installs games outside the default PATH.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])

    options = ["--timeout-scale", args.timeout_scale] + (["--jobs", str(args.jobs)] if args.jobs else [])
    sides = []
    for heading, programs, client in (("Engines", ENGINES, False), ("Clients", CLIENTS, True)):
        rows, sections, missing = [], [], []
        for name, command, more in programs:
            if args.only not in name:
                continue
            if client:
                asks = str(Path(readyok).parent / "examples/asks")
                command = [it.replace("{asks}", asks) for it in command]
                arguments = [*more, "--gui", "--", *command]
                found = find_program(command[0]) and all(find_program(it) for it in ("polyglot", "xboard") if it in command[-1])
            else:
                program = find_program(command[0])
                arguments = [*more, shlex.join([program, *command[1:]])] if program else []
                found = program
            if not found or args.stored and not (args.json / f"{slug(name)}.json").exists():
                missing.append(name)
                continue
            result, error = report(readyok, args.json, name, arguments, options)
            if result is None:
                sections += [f"\n### {name}\n", f"It could not be checked: {plain(error)}."]
                continue
            rows.append(row(name, result))
            sections += section(name, result)
        sides.append((heading, rows, sections, missing))

    lines = [
        "# Results for published programs",
        "",
        "Results of `readyok check` for widely used programs, with the checks of [engines](conformance.md) and",
        "[clients](conformance-clients.md). Generated by `scripts/conformance-results.py`. Each failure, or the common cause",
        "of several, was reproduced without the checker, over plain pipes. The results do not measure playing strength.",
        "",
        "Checks whose ids begin with `usi.` test USI as used today, not its first draft.",
        "",
        "The tables count passed and applicable checks. Failed checks of severity *may* are in the tables only.",
        "A check is inconclusive if it could not be run completely or its failure was not confirmed.",
        f"Excluded, because they depend on the machine: {', '.join(f'`{it}`' for it in EXCLUDED)}.",
    ]
    for heading, rows, sections, missing in sides:
        lines += [f"\n## {heading}\n", "| program | must | should | may |", "|---|---|---|---|", *rows, *sections]
        if missing:
            lines.append(f"\nNot checked: {', '.join(missing)}.")
    text = "\n".join(lines) + "\n"
    if args.only:
        print(text)
    else:
        PAGE.write_text(text)


main()
