// Labels by their keys in the dictionaries, so that a test survives a change of a label.
import { en as english, type Key } from '../src/i18n/en';
import { fill } from '../src/i18n/fill';
import { ja as japanese } from '../src/i18n/ja';

type Values = Record<string, string | number>;

/** An English label. */
export const en = (key: Key, values: Values = {}) => fill(english[key], values);

/** A Japanese label. */
export const ja = (key: Key, values: Values = {}) => fill(japanese[key], values);

/** The part of an English label before its first value. */
export const prefix = (key: Key) => english[key].split('{')[0] ?? '';

/** Matches an English label with these values, and any for the rest. */
export const pattern = (key: Key, values: Values = {}) => new RegExp(expression(key, values));

/** Matches an English label at the start of a text. */
export const starts = (key: Key) => new RegExp(`^\\s*${expression(key)}`);

const expression = (key: Key, values: Values = {}) =>
  english[key]
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 ? escaped(String(values[part] ?? '')) || '(.+)' : escaped(part)))
    .join('');

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Why a game has ended, as the dictionaries name it. */
type Reason = Key extends infer K ? (K extends `reason.${infer R}` ? R : never) : never;

/** The English result of a game; without a winner a draw. */
export function ending(winner: `side.${'white' | 'black' | 'sente' | 'gote'}` | null, reason: Reason) {
  const outcome = winner ? en('outcome.won', { side: en(winner) }) : en('outcome.drawn');
  return en('outcome.because', { outcome, reason: en(`reason.${reason}`) });
}

/** Matches the result of a game that was won or drawn. */
export const DECIDED = new RegExp(`${expression('outcome.won')}|${expression('outcome.drawn')}`);
