#!/usr/bin/env python3
"""Writes docs/conformance-results.md: what `readyok check` finds in engines and clients of others.

Usage: scripts/conformance-results.py [--only TEXT] [--jobs N] [--timeout-scale X] [--json FOLDER [--kept]] [READYOK]

READYOK is the program; by default target/release/readyok, beside which there is the example `asks` of
readyok-check. Programs are those that are installed (see
scripts/install-engines.sh and scripts/install-clients.sh); those of npm, PyPI and crates.io are looked for
in $READYOK_ENGINES, a folder of programs named as below. What is not there is left out, and said to be. With
--json the reports are kept, each with its dialogues, and taken from there where they are there already.
Each program runs with a home and a working folder of its own, which are thrown away.
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

# What depends on the machine more than on the program.
LEFT_OUT = ["handshake.quick"]

# What explains several failures at once.
SJAAK = "It reads no input while it searches: `stop`, `isready` and `quit` wait until it is done."
THREADS = "Once `Threads` is set, even to 1, it answers nothing any more: `options.every-value` and `search.every-thread-count`."
NOTES = {
    "Ethereal 12.00 (Debian)": "A `stop` within milliseconds of `go` is lost, and what follows is not answered, either:"
    " `search.immediate-stop`, `search.interleavings`, `state.go-stop-go`.",
    "Sjaak II 1.4.1 (Debian)": SJAAK,
    "Sjaak II 1.4.1 (Debian), USI": SJAAK + " It does not read drops as they are written (`Bad move B*4e in movelist!`).",
    "GPS Shogi 0.7 (Debian), USI": "It ends at each `go` with another word than `btime`, `wtime`, `byoyomi`, `infinite` and"
    " `mate` (`unknown option in go …`). What is about something else was tried with byoyomi.",
    "Stockfish 10 (npm)": THREADS,
    "Stockfish 11 (npm)": THREADS,
}

# Name, command, more arguments of `readyok check`.
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

# Name, command with {engine}, more arguments. {asks} is the example, beside the program.
CLIENTS = [
    ("`asks`, the example of our client's library", ["{asks}", "{engine}"], []),
    ("`asks`, USI", ["{asks}", "--usi", "{engine}"], []),
    ("python-chess 1.11.2 (PyPI)", [str(PYTHON), str(ROOT / "scripts/clients/python-chess.py"), "{engine}"], []),
    ("PolyGlot 2.0.4 (Debian), driven as by XBoard", ["sh", "-c", "{ " + XBOARD + "; } | polyglot -noini -ec {engine}"], []),
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


def where(program):
    """The path of a program, wherever engines are installed."""
    folders = [os.environ.get("READYOK_ENGINES", ""), os.environ["PATH"]]
    return shutil.which(program, path=os.pathsep.join(filter(None, folders)))


def plain(text):
    """A text of a program that is no Markdown, but for what stands between backticks."""
    parts = " ".join(text.split()).split("`")
    escaped = [re.sub(r"([\\*_\[\]<>#|&])", r"\\\1", part) for part in parts]
    if len(parts) % 2 == 0:
        return r"\`".join(escaped)
    return "`".join(parts[at] if at % 2 else escaped[at] for at in range(len(parts)))


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def osl_home(home):
    """A folder of GPS Shogi's data in which it can keep no options."""
    folder = home / "osl"
    (folder / "gpsusi.conf").mkdir(parents=True)
    (folder / "data").symlink_to("/usr/share/gpsshogi-data/data")
    return str(folder)


def report(readyok, kept, name, arguments, options):
    """The report of a program, or why there is none."""
    path = kept / f"{slug(name)}.json" if kept else None
    if path and path.exists():
        return judged(path.read_text()), ""
    print(f"{name} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as home:
        # Some programs keep what they are told, and read it at the next start.
        environment = {**os.environ, "HOME": home, "OSL_HOME": osl_home(Path(home))}
        command = [readyok, "check", "--json", *options, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home, env=environment)
    if not done.stdout:
        return None, done.stderr.strip()
    if path:
        kept.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout)
    return judged(done.stdout), ""


def judged(text):
    """A report without what is left out."""
    # Where the program that played the engine was is of no interest.
    found = json.loads(re.sub(r"/[^\s\"']*/readyok\b", "{engine}", text))
    found["checks"] = [check for check in found["checks"] if check["id"] not in LEFT_OUT]
    return found


def row(name, found):
    counts = {severity: {} for severity in ("must", "should", "may")}
    for check in found["checks"]:
        of = counts[check["severity"]]
        of[check["verdict"]] = of.get(check["verdict"], 0) + 1
    cells = []
    for of in counts.values():
        judged = sum(count for verdict, count in of.items() if verdict != "skip")
        cells.append(f"{of.get('pass', 0)} of {judged}")
    return f"| {name} | {' | '.join(cells)} |"


def deaths(bad):
    """What ended the engine in so many checks that it says one thing about it, and not many."""
    ends = [match[0] for it in bad if (match := re.search(r"the engine ended with .*$", it["text"]))]
    return [(end, ends.count(end)) for end in sorted(set(ends)) if 10 < ends.count(end)]


def section(name, found):
    lines = [f"\n### {name}\n"]
    if name in NOTES:
        lines.append(f"{NOTES[name]}\n")
    bad = [it for it in found["checks"] if it["verdict"] == "fail" and it["severity"] != "may"]
    for cause, count in deaths(bad):
        same = [it for it in bad if it["text"].endswith(cause)]
        bad = [it for it in bad if it not in same]
        ids = ", ".join(f"`{it['id']}`" for it in same)
        lines.append(f"- In {count} checks that search {cause}: {ids}.")
    for check in sorted(bad, key=lambda it: it["severity"] != "must"):
        lines.append(f"- {check['severity']} `{check['id']}`: {check['rule']}. Seen: {plain(check['text'])}.")
    if not bad:
        lines.append("No must and no should is broken.")
    for check in found["checks"]:
        if check["verdict"] == "inconclusive":
            lines.append(f"- inconclusive `{check['id']}`: {plain(check['text'])}.")
    if found["side"] == "client":
        coped = [it for it in found["checks"] if it["verdict"] == "pass" and it["remark"]]
        if coped:
            lines.append("\nWhat it did with engines that broke down:\n")
        lines += [f"- `{it['id']}`: {plain(it['remark'])}." for it in coped]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readyok", nargs="?", default=str(ROOT / "target/release/readyok"))
    parser.add_argument("--only", default="", help="only programs whose names contain this; the page is not written")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--timeout-scale", metavar="X", default="1", help="stretches all limits of time")
    parser.add_argument("--json", type=Path, metavar="FOLDER")
    parser.add_argument("--kept", action="store_true", help="start nothing: only reports that are in the folder")
    args = parser.parse_args()
    readyok = str(Path(args.readyok).resolve())
    # Debian keeps games out of many a PATH.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])

    options = ["--timeout-scale", args.timeout_scale] + (["--jobs", str(args.jobs)] if args.jobs else [])
    sides = []
    for head, programs, client in (("Engines", ENGINES, False), ("Clients", CLIENTS, True)):
        rows, sections, missing = [], [], []
        for name, command, more in programs:
            if args.only not in name:
                continue
            if client:
                asks = str(Path(readyok).parent / "examples/asks")
                words = [word.replace("{asks}", asks) for word in command]
                arguments = [*more, "--gui", "--", *words]
                there = where(words[0]) and all(where(it) for it in ("polyglot", "xboard") if it in words[-1])
            else:
                program = where(command[0])
                arguments = [*more, shlex.join([program, *command[1:]])] if program else []
                there = program
            if not there or args.kept and not (args.json / f"{slug(name)}.json").exists():
                missing.append(name)
                continue
            found, why = report(readyok, args.json, name, arguments, options)
            if found is None:
                sections += [f"\n### {name}\n", f"It could not be judged: {plain(why)}."]
                continue
            rows.append(row(name, found))
            sections += section(name, found)
        sides.append((head, rows, sections, missing))

    lines = [
        "# What `readyok check` finds",
        "",
        "Programs that many people use, judged by the rules of [conformance.md](conformance.md) and",
        "[conformance-clients.md](conformance-clients.md). Written by `scripts/conformance-results.py`. Each failure, or",
        "the one cause of several, was seen again without this checker, over plain pipes; what proved to be no fault of",
        "the program became a mend of the check. None of them says how good a program is at what it is for.",
        "",
        "Rules whose names begin with `usi.` are those of USI as it is spoken today, not of its first draft.",
        "",
        "Inconclusive is what could not be judged, or was not confirmed. The tables count what was passed of what could",
        "be judged; broken rules of severity *may* are in the tables only.",
        f"Left out, as they say more of the machine: {', '.join(f'`{it}`' for it in LEFT_OUT)}.",
    ]
    for head, rows, sections, missing in sides:
        lines += [f"\n## {head}\n", "| program | must | should | may |", "|---|---|---|---|", *rows, *sections]
        if missing:
            lines.append(f"\nNot judged this time: {', '.join(missing)}.")
    text = "\n".join(lines) + "\n"
    if args.only:
        print(text)
    else:
        PAGE.write_text(text)


main()
