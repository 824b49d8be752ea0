#!/usr/bin/env python3
"""Runs the commands and compiles the code of tutorials, how-to guides and READMEs as a reader would: in a new directory
that contains only a clone, whose crates are the packages that check-packages.sh has unpacked.

Usage: check-tutorials.py [--program READYOK] [--packages DIRECTORY] [--keep] [PAGE…]
       check-tutorials.py --python INTERPRETER [--keep] [PAGE…]

With --python, the pages of the Python package are run instead: by an interpreter that has the package and NumPy.

CONTRIBUTING.md describes the rules. A block that is not run is listed with the reason in the page.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON_PAGES = ["docs/python.md", "crates/python/README.md"]
PAGES = ["README.md", "docs/introduction.md", *sorted({
    str(path.relative_to(ROOT))
    for pattern in ("docs/tutorials/*.md", "docs/how-to/*.md", "crates/*/README.md")
    for path in ROOT.glob(pattern)
} - set(PYTHON_PAGES))]
# Pages of the npm package, which `check-js.sh` runs. `RULES_PACKAGE` is the path of the package.
SCRIPT_PAGES = ["packages/js/README.md", "docs/javascript.md"]
# Maximum duration of a page, and of the start of a program in the background, in seconds.
PAGE_LIMIT = 900
START_LIMIT = 120

MARKER = re.compile(r"<!-- (not run|with|background|ends later|after|file|project|status): ?(.*?) ?-->", re.DOTALL)
FENCE = re.compile(r"^(`{3,})\s*([\w,]*)\s*$")
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
INCLUDE = re.compile(r"\{\{#include ([^}]+)\}\}")
FILE = re.compile(r"`([\w./-]+\.(?:rs|toml|py|m?js|txt|epd|json|yml))`")
# Languages whose blocks show output, a grammar or a protocol.
SHOWN = {"", "text", "json", "console"}


class PageError(Exception):
    """A page does not follow the rules."""


@dataclass
class Block:
    """A fenced block with the markers and the text before it."""

    page: str
    line: int
    language: str
    text: str
    before: str
    markers: dict[str, list[str]] = field(default_factory=dict)

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def marker(self, name):
        return next(iter(self.markers.get(name, [])), None)


def blocks_of(page):
    """The blocks of a page, and the page that its reader has followed before."""
    lines = (ROOT / page).read_text().splitlines()
    blocks, before, at, after = [], [], 0, None
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            before.append(lines[at])
            at += 1
            continue
        start, text = at, []
        at += 1
        while at < len(lines) and lines[at].strip() != fence[1]:
            text.append(lines[at])
            at += 1
        at += 1
        above = "\n".join(before)
        markers = {}
        for name, value in MARKER.findall(above):
            markers.setdefault(name, []).append(" ".join(value.split()))
        after = after or next(iter(markers.get("after", [])), None)
        language = fence[2].split(",")[0]
        content = INCLUDE.sub(lambda it: (ROOT / page).parent.joinpath(it[1]).read_text().rstrip("\n"),
                              "\n".join(text) + "\n")
        paragraph = MARKER.sub("", above).strip().rpartition("\n\n")[2]
        blocks.append(Block(page, start + 1, language, content, paragraph, markers))
        before = []
    return blocks, after


def replaced(block):
    """The text with the replacements of its markers: `<!-- with: A → B -->`."""
    text = block.text
    for value in block.markers.get("with", []):
        old, arrow, new = (part.strip() for part in value.partition("→"))
        if not arrow or old not in text:
            raise PageError(f"{block.place}: the block has no `{old}` to replace")
        text = text.replace(old, new)
    return text


def quoted_file(path, text):
    return f"mkdir -p {shlex.quote(os.path.dirname(path) or '.')}\ncat > {shlex.quote(path)} <<'END OF FILE'\n{text}END OF FILE\n"


def script_of(block, listed):
    """The shell commands that a block describes."""
    reason = block.marker("not run")
    if reason is not None:
        if not reason:
            raise PageError(f"{block.place}: `not run` needs a reason")
        listed.append((block.place, reason))
        return ""
    title = f"log {shlex.quote(block.place)}\n"
    text = replaced(block)
    for value in block.markers.get("with", []):
        title += f"log {shlex.quote(f'  with {value}')}\n"
    if block.language == "sh":
        until = block.marker("background")
        if until is not None:
            return f"{title}background {shlex.quote(text)} {shlex.quote(until)}\n"
        if block.marker("ends later") is not None:
            return f"{title}ends_later {shlex.quote(text)}\n"
        statuses = block.marker("status")
        if statuses is not None:
            # A subshell with `set -e` that is not a part of a condition.
            return f"{title}set +e; (set -e\n{text}); status=$?; set -e\n[[ ' {statuses} ' == *\" $status \"* ]]\n"
        return title + text
    if block.language == "python" and block.page in PYTHON_PAGES:
        # A complete program, whose comments after `print` are its output.
        script = f"{title}(mkdir {block.line}; cd {block.line}; ln -s {shlex.quote(str(ROOT / 'testdata'))} .\n"
        script += quoted_file("program.py", text) + '"$PYTHON" program.py > output\n'
        if printed := PRINTED.findall(text):
            script += quoted_file("expected", "".join(f"{line}\n" for line in printed)) + "diff expected output\n"
        return script + ")\n"
    file = block.marker("file")
    if file is None and (named := FILE.findall(block.before)):
        file = named[-1]
    if block.language == "rust" and (dependencies := block.marker("project")) is not None:
        name = "page-" + re.sub(r"\W", "-", f"{block.page}-{block.line}").lower()
        added = "".join(f"cargo add --quiet {it.strip()}\n" for it in dependencies.split(",") if it.strip())
        code = "\n".join(line[2:] if line.startswith("# ") else line for line in text.splitlines()) + "\n"
        return f"{title}(cargo new --quiet {name}; cd {name}\n{added}{quoted_file('src/main.rs', code)}cargo build --quiet\n)\n"
    if file is not None:
        return title + quoted_file(file, text)
    if block.language == "rust":
        # A complete program of the project of the page.
        return f"{title}[[ -f Cargo.toml ]]\n{quoted_file('src/main.rs', text)}cargo build --quiet\n"
    if block.language in SHOWN:
        return ""
    raise PageError(f"{block.place}: a block of `{block.language}` that names no file, and has no marker")


PROLOGUE = r"""
set -euo pipefail
log() { printf '%s\n' "$*" >&2; }
jobs_that_end=()
count=0
# Starts commands, and waits until their output contains a text.
background() {
    count=$((count + 1))
    local log=$LOGS/$count waited=0
    bash -euo pipefail -c "$1" > "$log" 2>&1 &
    local id=$!
    until grep -qF -- "$2" "$log"; do
        if ! kill -0 "$id" 2> /dev/null || ((waited++ > START_LIMIT * 10)); then
            log "no \`$2\` in the output of: $1"
            cat "$log" >&2
            exit 1
        fi
        sleep 0.1
    done
}
# Starts commands that must succeed by the end of the page.
ends_later() {
    count=$((count + 1))
    bash -euo pipefail -c "$1" > "$LOGS/$count" 2>&1 &
    jobs_that_end+=("$!:$count")
}
""".replace("START_LIMIT", str(START_LIMIT))

EPILOGUE = r"""
pwd > "$LOGS/directory"
for job in ${jobs_that_end[@]+"${jobs_that_end[@]}"}; do
    wait "${job%:*}" || { log "failed in the background:"; cat "$LOGS/${job#*:}" >&2; exit 1; }
done
"""


def prepare(work, packages):
    """A directory next to the clone, without the repository above it."""
    crates = work / "readyok/crates"
    crates.mkdir(parents=True)
    patches = []
    for package in sorted(packages.glob("*-[0-9]*")):
        if not package.is_dir():
            continue
        name = re.sub(r"-[0-9.]+$", "", package.name)
        directory = crates / name.removeprefix("readyok-")
        shutil.copytree(package, directory)
        patches.append(f'{name} = {{ path = "{directory}" }}\n')
    if not patches:
        sys.exit(f"no packages in {packages}: run scripts/check-packages.sh first")
    (work / ".cargo").mkdir()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    # Pages share the compiled dependencies.
    (work / ".cargo/config.toml").write_text(
        f'[build]\nbuild-dir = "{target / "tutorials"}"\n'
        "[profile.dev]\ndebug = false\n"
        "[patch.crates-io]\n" + "".join(patches))


def python_environment(python):
    """The variables of programs that an interpreter runs."""
    python = os.path.abspath(python)
    # Relative directories are those of the caller.
    paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        "PYTHON": python,
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": f"{os.path.dirname(python)}:{os.environ['PATH']}",
    }


def environment(work, program):
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("READYOK_", "NATS_", "LICHESS_")) and name not in ("DISPLAY", "CARGO_TARGET_DIR")}
    commands = work / "bin"
    commands.mkdir()
    (commands / "readyok").symlink_to(program)
    variables.update(
        PATH=f"{commands}:{variables['PATH']}:/usr/games:/usr/sbin",
        BROWSER="true",
        CARGO_TERM_QUIET="true",
        GIT_CEILING_DIRECTORIES=str(work),
    )
    return variables


@dataclass
class Run:
    """What the pages have in common."""

    # The blocks that are not run, with the reasons.
    listed: list[tuple[str, str]] = field(default_factory=list)
    # The directory where each page ends.
    ends: dict[str, str] = field(default_factory=dict)


def run_page(page, work, variables, run):
    """Runs a page in a directory of its own, or where the page ends that its reader has followed before. Returns whether it
    succeeds."""
    blocks, after = blocks_of(page)
    script = "".join(script_of(block, run.listed) for block in blocks)
    if not script:
        return True
    place = work / re.sub(r"\W", "-", page)
    start = place
    if after:
        before = (Path(page).parent / after).as_posix()
        if before not in run.ends and not run_page(before, work, variables, run):
            return False
        start = run.ends[before]
    for directory in ("home", "logs"):
        (place.with_suffix(f".{directory}")).mkdir()
    place.mkdir()
    (place / "readyok").symlink_to(work / "readyok")
    home = place.with_suffix(".home")
    variables = variables | {
        "LOGS": str(place.with_suffix(".logs")),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    begin = time.monotonic()
    process = subprocess.Popen(
        ["bash", "-c", PROLOGUE + script + EPILOGUE], cwd=start, env=variables, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=PAGE_LIMIT)
    except subprocess.TimeoutExpired:
        output = "the page takes too long\n"
    finally:
        # Programs in the background.
        try:
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(0.5)
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if process.returncode == 0:
        run.ends[page] = (place.with_suffix(".logs") / "directory").read_text().strip()
        print(f"ok: {page} ({time.monotonic() - begin:.0f} s)", flush=True)
        return True
    print(f"FAILED: {page}\n{output or ''}", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--program", type=Path, default=target / "debug/readyok")
    parser.add_argument("--packages", type=Path, default=target / "packages")
    parser.add_argument("--python", help="run the pages of the Python package with this interpreter")
    parser.add_argument("--keep", action="store_true", help="keep the directory of the run")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="tutorials-")).resolve()
    run, failed = Run(), []
    # Pages about JavaScript need neither crates nor the program.
    is_script = bool(arguments.pages) and all(page in SCRIPT_PAGES for page in arguments.pages)
    try:
        if arguments.python:
            variables = os.environ | python_environment(arguments.python)
        else:
            if not is_script:
                prepare(work, arguments.packages.resolve())
            variables = environment(work, arguments.program.resolve(strict=not is_script))
        for page in arguments.pages or (PYTHON_PAGES if arguments.python else PAGES):
            if page in run.ends:
                continue
            try:
                succeeds = run_page(page, work, variables, run)
            except PageError as error:
                print(f"FAILED: {error}", flush=True)
                succeeds = False
            if not succeeds:
                failed.append(page)
    finally:
        if arguments.keep:
            print(f"kept {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    for place, reason in run.listed:
        print(f"not run: {place}: {reason}")
    if failed:
        sys.exit(f"{len(failed)} pages do not work as printed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
