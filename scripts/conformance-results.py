#!/usr/bin/env python3
"""Writes results of `readyok check` for third-party engines and clients.

The complete results are testdata/conformance/results.json, and docs/conformance-results.md is their summary.

Usage: scripts/conformance-results.py [--install] [--only TEXT] [--parallel N] [--store DIRECTORY [--stored]] [READYOK]
       scripts/conformance-results.py --summary

READYOK is the executable, by default target/release/readyok; the example `asks` of readyok-check must be in `examples` next
to it. --install runs scripts/install-engines.sh, install-published-engines.sh and install-clients.sh first. Programs are
listed in scripts/conformance-results.toml, and searched in the directory $READYOK_ENGINES, by default target/engines/bin, and
in PATH. The summary lists programs without a result. --store stores the reports with their transcripts; --stored reuses stored reports.
--summary writes only the page, from the data file. --only prints the results instead of writing files.
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
DATA = ROOT / "testdata/conformance/results.json"
PAGE = ROOT / "docs/conformance-results.md"
# Files outside of the book.
REPOSITORY = "https://github.com/readyok/readyok/blob/main"
PROGRAMS = tomllib.loads((ROOT / "scripts/conformance-results.toml").read_text())

SEVERITIES = ["must", "should", "may"]
SIDES = [("Engines", "engine"), ("Clients", "client")]

# Checks whose result depends on the machine.
EXCLUDED = ["handshake.quick"]

# Longest part of a transcript in the data.
LINES = 24
WIDTH = 160


def find_program(program):
    """The path of an installed program."""
    directories = [os.environ.get("READYOK_ENGINES", str(ROOT / "target/engines/bin")), os.environ["PATH"]]
    return shutil.which(program, path=os.pathsep.join(directories))


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


def transcript(check):
    """The end of a transcript."""
    lines = check.get("transcript") or []
    shown = lines[-LINES:]
    if len(shown) < len(lines):
        shown = ["…", *shown]
    shown = (it if len(it) <= WIDTH else f"{it[:WIDTH]} …" for it in shown)
    return ["".join(c if c.isprintable() else "�" for c in it) for it in shown]


def violation(cause, check, checks, verified):
    """A violated root cause, as an object of the data file."""
    dependents = [checks[it] for it in cause["dependents"] if it in checks]
    found = {"id": check["id"], "severity": check["severity"], "rule": check["rule"], "seen": " ".join(check["text"].split())}
    if also := [it["id"] for it in dependents if it["verdict"] == "fail"]:
        found["also"] = also
    if unjudged := sum(it["verdict"] != "fail" for it in dependents):
        found["without_verdict"] = unjudged
    if check["severity"] == "must":
        if reason := verified.get(check["id"]):
            found["by_hand"] = reason
        shortest = checks.get(cause["shortest"] or "", check)
        if lines := transcript(shortest if shortest.get("transcript") else check):
            found["transcript"] = lines
    return found


def result(program, report):
    """The result of a program, as an object of the data file."""
    found = {key: program[key] for key in ("name", "source", "url") if key in program}
    found["side"] = report["side"]
    if report["side"] == "engine":
        found["version"] = " ".join(report["name"].split())
    found["date"] = report["date"]
    for key, counts in (("passed", lambda verdict: verdict == "pass"), ("applicable", lambda verdict: verdict != "skip")):
        found[key] = {
            severity: sum(it["severity"] == severity and counts(it["verdict"]) for it in report["checks"])
            for severity in SEVERITIES
        }
    checks = {it["id"]: it for it in report["checks"]}
    found["causes"] = [
        violation(cause, check, checks, program.get("verified", {}))
        for severity in SEVERITIES[:2]
        for cause, check in roots(report, severity)
    ]
    causes = {it["id"] for it in report["causes"]}
    found["inconclusive"] = [
        {"id": it["id"], "text": " ".join(it["text"].split())}
        for it in report["checks"]
        if it["verdict"] == "inconclusive" and not it["cause"] and it["id"] not in causes
    ]
    found["remarks"] = [
        {"id": it["id"], "text": " ".join(it["remark"].split())}
        for it in report["checks"]
        if report["side"] == "client" and it["verdict"] == "pass" and it["remark"]
    ]
    return {key: value for key, value in found.items() if key == "causes" or value != []}


def summary(results):
    """The page of the book."""
    lines = [
        "# Results for published programs",
        "",
        "How well published engines and clients follow their protocol, by `readyok check --level full`: passed of applicable",
        "[checks of engines](conformance.md) and [of clients](conformance-clients.md), and the musts that are the root cause of failures.",
        "The results do not measure playing strength.",
        "",
        f"[The complete results]({REPOSITORY}/{DATA.relative_to(ROOT)}) have each failure with what was seen, a transcript, and for each",
        "must whether it was reproduced by hand over plain pipes. They have the date of each run, and the behavior of clients with failing engines.",
        "`scripts/conformance-results.py --install` writes both.",
        "",
        "Checks whose ids begin with `usi.` test USI as used today, not its first draft. A check that could not be run completely has not passed.",
        f"Excluded, because they depend on the machine: {', '.join(f'`{it}`' for it in EXCLUDED)}.",
        "",
        "To correct a result, send the report of `readyok check --json-file FILE ENGINE` for a newer version.",
    ]
    for heading, kind in SIDES:
        lines += [
            f"\n## {heading}\n",
            "| program | must | should | may | violated musts |",
            "|---|--:|--:|--:|---|",
        ]
        missing = []
        for program in PROGRAMS[kind]:
            found = results.get(program["name"])
            if not found:
                missing.append(program["name"])
                continue
            name = f"[{program['name']}]({program['url']})" if "url" in program else program["name"]
            counts = [f"{found['passed'][it]}/{found['applicable'][it]}" for it in SEVERITIES]
            violated = ", ".join(f"`{it['id']}`" for it in found["causes"] if it["severity"] == "must")
            lines.append("| " + " | ".join([name, *counts, violated]) + " |")
        if missing:
            lines.append(f"\nNot checked: {', '.join(missing)}.")
    return "\n".join(lines) + "\n"


def write_summary():
    PAGE.write_text(summary({it["name"]: it for it in json.loads(DATA.read_text())}))


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
    parser.add_argument("--summary", action="store_true", help="write only the page, from the data file")
    args = parser.parse_args()
    if args.summary:
        write_summary()
        return
    if args.stored and not args.store:
        parser.error("--stored requires --store")
    readyok = Path(args.readyok).resolve()
    if args.install:
        for name in ("engines", "published-engines", "clients"):
            subprocess.run([ROOT / f"scripts/install-{name}.sh"], check=True)
    # Debian installs games outside the default PATH.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])

    found = []
    for _, kind in SIDES:
        programs = [it for it in PROGRAMS[kind] if args.only in it["name"]]
        arguments = [arguments_of(it, kind == "client", readyok) for it in programs]
        with ThreadPoolExecutor(args.parallel) as pool:
            reports = list(pool.map(lambda it: check(readyok, *it, args), zip(programs, arguments)))
        for program, (report, error) in zip(programs, reports):
            if report:
                found.append(result(program, report))
            else:
                print(f"{program['name']}: {error or 'not installed'}", file=sys.stderr)
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    if args.only:
        print(text, end="")
    else:
        DATA.write_text(text)
        write_summary()


main()
