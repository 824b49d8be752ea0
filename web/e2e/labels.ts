// Labels by their dictionary keys: a changed label breaks no test.
import { en as english, type Key } from '../src/i18n/en';
import { fill } from '../src/i18n/fill';
import { ja as japanese } from '../src/i18n/ja';

type Values = Record<string, string | number>;

/** An English label. */
export const en = (key: Key, values: Values = {}) => fill(english[key], values);

/** A Japanese label. */
export const ja = (key: Key, values: Values = {}) => fill(japanese[key], values);

/** The part of an English label before the first value that is not given. */
export const prefix = (key: Key, values: Values = {}) => en(key, values).split('{')[0] ?? '';

/** Matches an English label with any values. */
export const pattern = (key: Key) => new RegExp(`^\\s*${expression(key)}\\s*$`);

/** Matches an English label at the start of a text. */
export const starts = (key: Key) => new RegExp(`^\\s*${expression(key)}`);

/** The text up to the next space at the first value of an English label. */
export const valueIn = (text: string | null, key: Key) =>
  new RegExp(expression(key)).exec(text ?? '')?.[1]?.split(/\s/)[0] ?? '';

const expression = (key: Key) =>
  english[key]
    .split(/\{\w+\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.+)');

/** The reasons of results in the dictionaries. */
type Reason = Key extends infer K ? (K extends `termination.${infer R}` ? R : never) : never;

/** The English result of a game; without a winner a draw. */
export function ending(winner: `side.${'white' | 'black' | 'sente' | 'gote'}` | null, reason: Reason) {
  const outcome = winner ? en('outcome.won', { side: en(winner) }) : en('outcome.drawn');
  return en('outcome.because', { outcome, reason: en(`termination.${reason}`) });
}

/** Matches the result of a game that was won or drawn. */
export const DECIDED = new RegExp(`${expression('outcome.won')}|${expression('outcome.drawn')}`);
