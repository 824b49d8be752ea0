#!/usr/bin/env node
// Fails if a package of a lock file has no licence, or one that is not permitted here. Lock files have the licences of all
// packages, so that nothing is installed or downloaded.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chdir } from 'node:process';
import { fileURLToPath } from 'node:url';

chdir(fileURLToPath(new URL('..', import.meta.url)));

const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense', 'Zlib']);

// Packages with other licences, each with the reason why it is permitted.
const EXCEPTIONS = new Map([
  ['@lichess-org/chessground', 'GPL-3.0-or-later, as the page'],
  ['shogiground', 'GPL-3.0-or-later, as the page'],
  ['chessops', 'GPL-3.0-or-later, a judge of tests'],
  ['@readyok/rules', 'this repository'],
  ['axe-core', 'MPL-2.0, only tests'],
  ['lightningcss', 'MPL-2.0, only builds'],
]);

/** Whether an SPDX expression without exceptions can be satisfied. */
function isPermissive(licence) {
  const text = licence.replace(/[()]/g, ' ').trim();
  const choices = text.split(/\s+OR\s+/);
  const every = (choice) => choice.split(/\s+AND\s+/).every((it) => PERMISSIVE.has(it.trim()));
  // `A AND (B OR C)` is rejected rather than misread.
  const isMixed = /\bAND\b/.test(text) && /\bOR\b/.test(text);
  return isMixed ? text.split(/\s+(?:AND|OR)\s+/).every((it) => PERMISSIVE.has(it)) : choices.some(every);
}

let count = 0;
const used = new Set();
const findings = [];
const files = execFileSync('git', ['ls-files', '*package-lock.json'], { encoding: 'utf8' }).split('\n').filter(Boolean);
for (const file of files) {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  for (const [path, entry] of Object.entries(packages)) {
    // The root, and packages of this repository.
    if (!path.includes('node_modules/')) continue;
    count += 1;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // Binaries of other systems have the licence of their package.
    const exception = [...EXCEPTIONS.keys()].find((it) => name === it || (it === 'lightningcss' && name.startsWith(`${it}-`)));
    if (exception) used.add(exception);
    else if (typeof entry.license !== 'string' || !isPermissive(entry.license)) {
      findings.push(`${file}: ${name}: ${entry.license ?? 'no licence'}`);
    }
  }
}
findings.push(...[...EXCEPTIONS.keys()].filter((it) => !used.has(it)).map((it) => `unused exception: ${it}`));
for (const finding of findings) console.error(finding);
console.log(`${files.length} lock files, ${count} packages, ${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
