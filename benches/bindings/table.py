"""Rows of measurements as a table in Markdown, and the goals that they have."""

import platform
from importlib.metadata import PackageNotFoundError, version


def lowest(contenders, rounds, clock):
    """Runs all contenders alternately, and returns the lowest time of each in seconds."""
    best = [float("inf")] * len(contenders)
    for _ in range(rounds):
        for index, contender in enumerate(contenders):
            start = clock()
            contender()
            best[index] = min(best[index], clock() - start)
    return best


class Table:
    """The rows. A ratio is the time of the peer divided by ours: 2 is twice as fast."""

    def __init__(self):
        self.rows = []
        self.missed = []

    def add(self, case, ours, peer, theirs, goal=None):
        """Adds times in seconds of a unit of work. `goal` is the lowest acceptable ratio."""
        ratio = theirs / ours
        if goal is not None and ratio < goal:
            self.missed.append(case)
        self.rows.append((case, micros(ours), peer, micros(theirs), number(ratio), number(goal) if goal else ""))

    def add_limit(self, case, value, unit, limit):
        """Adds a value that has a maximum instead of a peer."""
        if limit < value:
            self.missed.append(case)
        self.rows.append((case, f"{value:.0f} {unit}", "", "", "", f"≤ {limit} {unit}"))

    def print(self):
        print("| case | readyok, µs | peer | its µs | ratio | goal |")
        print("|---|--:|---|--:|--:|--:|")
        for row in self.rows:
            print(f"| {' | '.join(row)} |")
        print()
        print(f"{environment()}.")
        for case in self.missed:
            print(f"Goal missed: {case}.")


def micros(seconds):
    return f"{number(seconds * 1e6)}"


def number(value):
    """Three significant digits, without an exponent."""
    return f"{value:,.0f}" if 100 <= value else f"{value:.3g}"


def environment():
    def package(name):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"{name} without a version"

    packages = ", ".join(package(name) for name in ("readyok", "chess", "cshogi"))
    return f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.machine()}"
