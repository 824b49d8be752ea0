import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { japaneseOpening } from './openings';

test('translates names of openings and variations', () => {
  const names: [string, string][] = [
    ['Sicilian Defense: Najdorf Variation', 'シシリアン・ディフェンス：ナイドルフ・バリエーション'],
    ["Queen's Gambit Declined", 'クイーンズ・ギャンビット・ディクラインド'],
    ['Ruy Lopez: Berlin Defense, Closed', 'ルイ・ロペス：ベルリン・ディフェンス、クローズド'],
    ["King's Indian Attack, with Bf5", 'キングズ・インディアン・アタック（Bf5）'],
    // Rare names stay.
    ['Italian Game: Deutz Gambit', 'イタリアン・ゲーム：Deutz ギャンビット'],
  ];
  for (const [english, japanese] of names) expect(japaneseOpening(english)).toBe(japanese);
});

test('each opening of the table has a Japanese name', () => {
  const lines = readFileSync('../crates/rules/src/opening/names.tsv', 'utf8').trim().split('\n');
  const families = new Set(lines.map((line) => line.split('\t')[2]?.split(':')[0] ?? ''));
  expect(families.size).toBeGreaterThan(100);
  // Moves, such as Bb4+, stay.
  const untranslated = [...families].filter((family) => /[A-Za-z]{3}/.test(japaneseOpening(family)));
  expect(untranslated).toEqual([]);
});
