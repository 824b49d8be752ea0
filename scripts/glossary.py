#!/usr/bin/env python3
"""Checks that the first use of each term of docs/glossary.md in the text of a page is linked; --write inserts the links.

Titles, tables, code, links and generated pages are not considered. A comment below a term lists the forms that are linked instead of it.
"""

import argparse
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
GLOSSARY = DOCS / "glossary.md"
SKIPPED = {"SUMMARY.md", "glossary.md", "rules.md", "tolerance.md", "conformance.md", "conformance-clients.md", "conformance-results.md"}
# Parts of a page without uses of terms.
OPAQUE = re.compile(
    r"^(`{3,}).*?^\1[ \t]*$|<!--.*?-->|``.*?``|`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\[[^\]]*\]: \S+|https?://\S+|^#.*?$|^\|.*?$",
    re.MULTILINE | re.DOTALL,
)
TERM = re.compile(r"^### (.+)\n(?:\n<!-- linked: (.+) -->\n)?", re.MULTILINE)


def terms():
    """Anchors, with expressions for their forms."""
    for name, forms in TERM.findall(GLOSSARY.read_text()):
        forms = forms.split(", ") if forms else [name]
        expression = r"(?<![\w-])(?:" + "|".join(map(re.escape, forms)) + r")(?![\w-])"
        yield name.lower().replace(" ", "-"), re.compile(expression)


def unlinked(text, target):
    """The first uses in a text that are not linked, with their links."""
    hidden = OPAQUE.sub(lambda part: "\0" * len(part[0]), text)
    for anchor, expression in terms():
        found = expression.search(hidden)
        if found and f"{target}#{anchor})" not in text:
            yield found.start(), found[0], f"[{found[0]}]({target}#{anchor})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="insert the missing links")
    write = parser.parse_args().write
    missing = 0
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS)
        if str(name) in SKIPPED or name.parts[0] == "ja":
            continue
        text = page.read_text()
        uses = sorted(unlinked(text, "../" * (len(name.parts) - 1) + "glossary.md"), reverse=True)
        for start, term, link in uses:
            missing += 1
            text = text[:start] + link + text[start + len(term) :]
            if not write:
                print(f"docs/{name}: the first use of `{term}` is not linked: run scripts/glossary.py --write", file=sys.stderr)
        if write and uses:
            page.write_text(text)
    if missing and not write:
        sys.exit(1)


main()
