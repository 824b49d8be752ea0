#!/usr/bin/env python3
"""Writes docs/conformance-results.md: results of `readyok check` for third-party engines and clients.

Usage: scripts/conformance-results.py [--install] [--only TEXT] [--parallel N] [--store DIRECTORY [--stored]] [READYOK]

READYOK is the executable, by default target/release/readyok; the example `asks` of readyok-check must be in `examples` next
to it. --install runs scripts/install-engines.sh, install-published-engines.sh and install-clients.sh first. Programs are
listed in scripts/conformance-results.toml, and searched in the directory $READYOK_ENGINES, by default target/engines/bin, and
in PATH. The page lists missing programs. --store stores the reports with their transcripts; --stored reuses stored reports.
Each program runs with a temporary home and working directory.
"""

import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance-results.md"
PROGRAMS = tomllib.loads((ROOT / "scripts/conformance-results.toml").read_text())

# Checks whose result depends on the machine.
EXCLUDED = ["handshake.quick"]

# Longest part of a transcript on the page.
LINES = 24
WIDTH = 160


def find_program(program):
    """The path of an installed program."""
    directories = [os.environ.get("READYOK_ENGINES", str(ROOT / "target/engines/bin")), os.environ["PATH"]]
    return shutil.which(program, path=os.pathsep.join(directories))


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


def arguments_of(program, is_client, readyok):
    """The arguments of `readyok check`, or None if the program is not installed."""
    command = program["command"]
    if is_client:
        asks, python = readyok.parent / "examples/asks", ROOT / "target/clients/bin/python"
        paths = {"{asks}": asks, "{python}": python, "{root}": ROOT}
        for key, path in paths.items():
            command = [it.replace(key, str(path)) for it in command]
        required = [command[0], *program.get("requires", [])]
        return ["--gui", "--", *command] if all(map(find_program, required)) else None
    path = find_program(command[0])
    return [*program.get("arguments", []), shlex.join([path, *command[1:]])] if path else None


def check(readyok, program, arguments, args):
    """The report of a program, or an error message."""
    stored = args.store / f"{slug(program['name'])}.json" if args.store else None
    if args.stored:
        if not stored.exists():
            return None, ""
        date = datetime.date.fromtimestamp(stored.stat().st_mtime)
        return parse_report(stored.read_text(), date), ""
    if not arguments:
        return None, ""
    print(f"{program['name']} …", file=sys.stderr, flush=True)
    options = ["--level", args.level] if "--gui" not in arguments else []
    options += ["--timeout-scale", args.timeout_scale, "--max-time", args.max_time]
    options += ["--jobs", str(args.jobs)] if args.jobs else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # Some programs store their options in the home directory.
        environment = {**os.environ, "HOME": home, "OSL_HOME": osl_home(Path(home))}
        command = [str(readyok), "check", "--json", *options, *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, cwd=home, env=environment
        )
    if not done.stdout:
        return None, done.stderr.strip() or f"exit status {done.returncode}"
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(done.stdout)
    return parse_report(done.stdout, datetime.date.today()), ""


def parse_report(text, date):
    """A report without the excluded checks."""
    # Replaces the path of the mock engine.
    found = json.loads(re.sub(r"/[^\s\"']*/readyok\b", "{engine}", text))
    found["date"] = date.isoformat()
    found["checks"] = [it for it in found["checks"] if it["id"] not in EXCLUDED]
    found["causes"] = [it for it in found["causes"] if it["id"] not in EXCLUDED]
    return found


def roots(found, severity):
    """The violated root causes of a severity, with their checks."""
    checks = {it["id"]: it for it in found["checks"]}
    causes = [(it, checks.get(it["id"])) for it in found["causes"]]
    return [(it, root) for it, root in causes if root and root["verdict"] == "fail" and root["severity"] == severity]


def row(program, found):
    counts = []
    for severity in ("must", "should", "may"):
        verdicts = [it["verdict"] for it in found["checks"] if it["severity"] == severity and it["verdict"] != "skip"]
        counts.append(f"{verdicts.count('pass')} of {len(verdicts)}")
    name = f"[{program['name']}](#{anchor(program['name'])})"
    source = f"[{program['source']}]({program['url']})" if "url" in program else ""
    version = plain(found["name"]) if found["side"] == "engine" else ""
    violated = len(roots(found, "must")) or "none"
    cells = [name, source, version, found["date"], violated, *counts]
    return "| " + " | ".join(map(str, cells)) + " |"


def anchor(name):
    """The anchor of a heading in mdBook."""
    return re.sub(r"[^a-z0-9_-]", "", name.lower().replace(" ", "-"))


def transcript(check):
    """The end of a transcript, as an indented block."""
    lines = check.get("transcript") or []
    shown = lines[-LINES:]
    if len(shown) < len(lines):
        shown = ["…", *shown]
    lines = (it if len(it) <= WIDTH else f"{it[:WIDTH]} …" for it in shown)
    block = [f"    {''.join(c if c.isprintable() else '�' for c in it)}" for it in lines]
    return ["", "  <details><summary>Transcript</summary>", "", *[f"  {it}" for it in block], "", "  </details>", ""] if block else []


def section(program, found):
    lines = [f"\n### {program['name']}\n"]
    checks = {it["id"]: it for it in found["checks"]}
    verified = program.get("verified", {})
    shown = 0
    for severity in ("must", "should"):
        for cause, check in roots(found, severity):
            shown += 1
            dependents = [checks[it] for it in cause["dependents"] if it in checks]
            failed = [f"`{it['id']}`" for it in dependents if it["verdict"] == "fail"]
            unjudged = sum(it["verdict"] != "fail" for it in dependents)
            text = f"- {severity} `{check['id']}`: {check['rule']}. Seen: {plain(check['text'])}."
            text += f" Also {', '.join(failed)}." if failed else ""
            text += f" {unjudged} checks have no verdict because of it." if unjudged else ""
            if severity == "must":
                reason = verified.get(check["id"])
                text += f" By hand: {reason}" if reason else " Not reproduced by hand."
            lines.append(text)
            if severity == "must":
                shortest = checks.get(cause["shortest"] or "", check)
                lines += transcript(shortest if shortest.get("transcript") else check)
    if not shown:
        lines.append("No must and no should is violated.\n")
    causes = {it["id"] for it in found["causes"]}
    for it in found["checks"]:
        if it["verdict"] == "inconclusive" and not it["cause"] and it["id"] not in causes:
            lines.append(f"- inconclusive `{it['id']}`: {plain(it['text'])}.")
    if found["side"] == "client":
        remarks = [it for it in found["checks"] if it["verdict"] == "pass" and it["remark"]]
        if remarks:
            lines.append("\nBehavior with failing engines:\n")
        lines += [f"- `{it['id']}`: {plain(it['remark'])}." for it in remarks]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readyok", nargs="?", default=str(ROOT / "target/release/readyok"))
    parser.add_argument("--install", action="store_true", help="install the programs first")
    parser.add_argument("--only", default="", help="run only programs whose names contain this text, and print the result")
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="check this number of programs at the same time")
    parser.add_argument("--level", default="full", help="extent of the runs: quick or full")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--timeout-scale", metavar="X", default="1", help="multiply all timeouts by this factor")
    parser.add_argument("--max-time", metavar="SECONDS", default="900", help="end each run after this time")
    parser.add_argument("--store", type=Path, metavar="DIRECTORY")
    parser.add_argument("--stored", action="store_true", help="start no program, use stored reports only")
    args = parser.parse_args()
    if args.stored and not args.store:
        parser.error("--stored requires --store")
    readyok = Path(args.readyok).resolve()
    if args.install:
        for name in ("engines", "published-engines", "clients"):
            subprocess.run([ROOT / f"scripts/install-{name}.sh"], check=True)
    # Debian installs games outside the default PATH.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])

    sides = []
    for heading, kind in (("Engines", "engine"), ("Clients", "client")):
        programs = [it for it in PROGRAMS[kind] if args.only in it["name"]]
        arguments = [arguments_of(it, kind == "client", readyok) for it in programs]
        with ThreadPoolExecutor(args.parallel) as pool:
            results = list(pool.map(lambda it: check(readyok, *it, args), zip(programs, arguments)))
        rows, sections, missing = [], [], []
        for program, (result, error) in zip(programs, results):
            if result:
                rows.append(row(program, result))
                sections += section(program, result)
            elif error:
                sections += [f"\n### {program['name']}\n", f"It could not be checked: {plain(error)}."]
            else:
                missing.append(program["name"])
        sides.append((heading, rows, sections, missing))

    lines = [
        "# Results for published programs",
        "",
        "Results of `readyok check --level full` for published programs, with the checks of [engines](conformance.md) and",
        "[clients](conformance-clients.md). Generated by `scripts/conformance-results.py --install`. Failures are grouped by",
        "their root cause. Each violated must was reproduced by hand over plain pipes, except where noted: the sentence after",
        "“By hand” is the result. The results do not measure playing strength.",
        "",
        "Checks whose ids begin with `usi.` test USI as used today, not its first draft.",
        "",
        "The tables count violated musts by root cause, and passed of applicable checks. Failed checks of severity *may* are",
        "in the tables only. A check is inconclusive if it could not be run completely or its failure was not confirmed.",
        f"Excluded, because they depend on the machine: {', '.join(f'`{it}`' for it in EXCLUDED)}.",
        "",
        "To correct a result, send the report of `readyok check --json-file FILE ENGINE` for a newer version.",
    ]
    for heading, rows, sections, missing in sides:
        lines += [
            f"\n## {heading}\n",
            "| program | source | version | date | violated musts | must | should | may |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            *sections,
        ]
        if missing:
            lines.append(f"\nNot checked: {', '.join(missing)}.")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
    if args.only:
        print(text)
    else:
        PAGE.write_text(text)


main()
