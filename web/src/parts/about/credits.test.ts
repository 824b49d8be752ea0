// The licences: one declaration for the About page and LICENSES.md, which `READYOK_BLESS=1 npm test` rewrites.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CHESS_SETS, SHOGI_SETS } from '../../app/sets';
import { PIECE_RULES } from '../../board/looks';
import { en } from '../../i18n/en';
import { ja } from '../../i18n/ja';
import { CREDITS, GROUPS, type Credit } from './credits';

vi.stubGlobal('navigator', { language: 'en' });

/** A row of the table of LICENSES.md. */
function row({ what, licence, authors, from, script, outlines }: Credit): string[] {
  const parts = [
    authors ?? 'made for this page',
    ...(from ? [`npm: ${from}`] : []),
    ...(script ? [`by \`${script}\``] : []),
    ...(outlines ? [`outlines of ${outlines}`] : []),
  ];
  return [`\`${what.replaceAll(', ', '`, `')}\``, licence, parts.join('; ')];
}

test('LICENSES.md lists the parts of the About page', () => {
  const text = readFileSync('LICENSES.md', 'utf8');
  const isRow = (line: string) => line.startsWith('| `');
  const lines = text.split('\n');
  const cells = (line: string) => line.split('|').slice(1, -1);
  const listed = lines.filter(isRow).map((line) => cells(line).map((cell) => cell.trim()));
  const wanted = CREDITS.map(row);
  if (process.env.READYOK_BLESS) {
    // Prettier aligns the columns.
    const rows = wanted.map((parts) => `| ${parts.join(' | ')} |`).join('\n');
    const [before = ''] = text.split('\n| `');
    writeFileSync('LICENSES.md', [before, rows, ...lines.slice(lines.findLastIndex(isRow) + 1)].join('\n'));
    return;
  }
  expect(listed).toEqual(wanted);
});

test('each part is there and its licence is compatible with that of the page', () => {
  const compatible = ['GPL-3.0-or-later', 'BSD-3-Clause', 'MIT', 'OFL-1.1', 'CC0-1.0'];
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const { group, what, licence, script } of CREDITS) {
    expect(compatible).toContain(licence);
    expect(GROUPS).toContain(group);
    if (script) expect(existsSync(script), script).toBe(true);
    if (group === 'libraries') continue;
    for (const path of what.split(', ')) {
      expect(existsSync(path.startsWith('crates/') ? join('..', path) : path), path).toBe(true);
    }
  }
  const libraries = CREDITS.filter(({ group }) => group === 'libraries').map(({ what }) => what);
  // The runtime of Svelte is a part of the script, too.
  expect(libraries.toSorted()).toEqual([...Object.keys(dependencies), 'svelte'].toSorted());
});

test('each set of pieces is complete, has a credit, a name and rules', () => {
  const sets = [
    ...CHESS_SETS.map((set) => ({ set, attribute: 'chess-pieces', count: 12, key: 'chess_pieces' })),
    ...SHOGI_SETS.map((set) => ({ set, attribute: 'shogi', count: 28, key: 'pieces' })),
  ];
  expect(readdirSync('public/pieces').toSorted()).toEqual(sets.map(({ set }) => set as string).toSorted());
  for (const { set, attribute, count, key } of sets) {
    const files = readdirSync(join('public/pieces', set));
    expect(files.length).toBe(count);
    for (const file of files) expect(PIECE_RULES.join()).toContain(`url('./pieces/${set}/${file}')`);
    expect(PIECE_RULES.filter((rule) => rule.startsWith(`[data-${attribute}='${set}']`)).length).toBe(count);
    expect(CREDITS.map(({ what }) => what)).toContain(`public/pieces/${set}`);
    const name = `settings.${key}.${set}`;
    expect(Object.keys(en)).toContain(name);
    expect(Object.keys(ja)).toContain(name);
  }
});
