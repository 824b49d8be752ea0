// Labels by their dictionary keys: a changed label breaks no test.
import { en as english, type Key } from '../src/i18n/en';
import { afterEach, beforeEach, describe } from 'vitest';
import { fill } from '../src/i18n/fill';
import { ja as japanese } from '../src/i18n/ja';

type Values = Record<string, string | number>;

const DICTIONARIES = { en: english, ja: japanese };
type Language = keyof typeof DICTIONARIES;
let current: Language = 'en';

/** The language of the test, and the locale of its browser. */
export const language = () => current;
export const locale = () => (current === 'ja' ? 'ja-JP' : 'en-GB');

/** A label in the language of the test: English outside of `inLanguage`. */
export const t = (key: Key, values: Values = {}) => fill(DICTIONARIES[current][key], values);

/** Runs the tests of a file in a language, each in half of the files, or with `LANGUAGES=all` in both. */
export function inLanguage(wanted: Language, tests: () => void) {
  const languages = process.env.LANGUAGES === 'all' ? (['en', 'ja'] as const) : [wanted];
  describe.each(languages)('%s', (one) => {
    beforeEach(() => {
      current = one;
    });
    afterEach(() => {
      current = 'en';
    });
    // Tables of tests have labels, too.
    current = one;
    tests();
    current = 'en';
  });
}

/** An English label. */
export const en = (key: Key, values: Values = {}) => fill(english[key], values);

/** A Japanese label. */
export const ja = (key: Key, values: Values = {}) => fill(japanese[key], values);

export const LANGUAGES = [
  ['en', en],
  ['ja', ja],
] as const;

/** The part of a label before the first value that is not given. */
export const prefix = (key: Key, values: Values = {}) => t(key, values).split('{')[0] ?? '';

/** Matches a label with any values. */
export const pattern = (key: Key) => new RegExp(`^\\s*${expression(key)}\\s*$`);

/** Matches a label at the start of a text. */
export const starts = (key: Key) => new RegExp(`^\\s*${expression(key)}`);

/** The text up to the next space at the first value of a label. */
export const valueIn = (text: string | null, key: Key) =>
  new RegExp(expression(key)).exec(text ?? '')?.[1]?.split(/\s/)[0] ?? '';

const expression = (key: Key) =>
  DICTIONARIES[current][key]
    .split(/\{\w+\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.+)');

/** The reasons of results in the dictionaries. */
type Reason = Key extends infer K ? (K extends `termination.${infer R}` ? R : never) : never;
type SideKey = `side.${'white' | 'black' | 'sente' | 'gote' | 'shitate' | 'uwate'}`;
type PieceKey = Key extends infer K ? (K extends `${'chess' | 'shogi'}.${string}` ? K : never) : never;

/** The result of a game; without a winner a draw. Japanese has other terms for chess than for shogi. */
export function ending(winner: SideKey | null, reason: Reason) {
  const outcome = winner ? t('outcome.won', { side: t(winner) }) : t('outcome.drawn');
  const ofChess = `termination.${reason}.chess`;
  const shogi = winner !== null && winner !== 'side.white' && winner !== 'side.black';
  const key = !shogi && ofChess in english ? (ofChess as Key) : (`termination.${reason}` as const);
  return t('outcome.because', { outcome, reason: t(key) });
}

/** The name of a piece with its side. */
export const pieceLabel = (side: SideKey, piece: PieceKey) =>
  t('board.piece', { side: t(side), piece: t(piece) });

const KANJI = '一二三四五六七八九';

/** The label of a square: `e7, Black pawn`; `７七, 先手の歩` in Japanese. */
export function squareLabel(square: string, content: string = t('board.empty')) {
  const [file = '', rank = ''] = square;
  const shogi = /\d/.test(file) && current === 'ja';
  const name = shogi ? `${'０１２３４５６７８９'[Number(file)]}${KANJI['abcdefghi'.indexOf(rank)]}` : square;
  return `${name}, ${content}`;
}

/** Matches the result of a game that was won or drawn. */
export const decided = () => new RegExp(`${expression('outcome.won')}|${expression('outcome.drawn')}`);
