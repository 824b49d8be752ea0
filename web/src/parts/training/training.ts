// Texts of exercises and their sets.
import type {
  Exercise,
  ExerciseGrade,
  ExerciseKind,
  NumberedLine,
  TrainingSet,
  TrainingSetKind,
  Variant,
} from '../../api/wire';
import { language } from '../../app/prefs.svelte';
import type { Key } from '../../i18n/en';
import { moveText, sideName } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { lineNumber, numberAt } from '../../store/tree';

export const GRADES: readonly ExerciseGrade[] = ['again', 'hard', 'good', 'easy'];
/** The kinds of own mistakes. */
export const KINDS: readonly ExerciseKind[] = ['mistake', 'mate'];
export const TABS: readonly TrainingSetKind[] = ['repertoire', 'mistakes', 'problems'];
/** The NAGs that can mark moves of a repertoire, with their signs. */
export const MARKS: readonly (readonly [nag: number, sign: string])[] = [
  [1, '!'],
  [3, '!!'],
  [5, '!?'],
  [7, '□'],
];

/** An answer within this time is easy, in milliseconds. */
const FAST = 3000;

/** The grade that the course of an attempt suggests. */
export function suggestedGrade({ failed, hinted }: { failed: boolean; hinted: boolean }): ExerciseGrade {
  return failed ? 'again' : hinted ? 'hard' : 'good';
}

/** The grade of a move of a repertoire, which needs no decision of the user. */
export function repertoireGrade(attempt: { failed: boolean; hinted: boolean }, time: number): ExerciseGrade {
  const grade = suggestedGrade(attempt);
  return grade === 'good' && time < FAST ? 'easy' : grade;
}

/** The name of a set. */
export function setName({ kind, name }: TrainingSet): string {
  return name || t(kind === 'problems' ? 'training.unnamed' : `training.tab.${kind}`);
}

const numbering = (line: NumberedLine, variant: Variant) => ({ ...line, variant });

/** The moves of a line with the numbers before them; empty where none is usual. */
export function lineParts(line: NumberedLine, variant: Variant): { number: string; text: string }[] {
  return line.moves.map((move, index) => ({
    number: lineNumber(numbering(line, variant), index + 1, index),
    text: moveText(move.text),
  }));
}

export const lineText = (line: NumberedLine, variant: Variant) =>
  lineParts(line, variant)
    .map(({ number, text }) => number + text)
    .join(' ');

/** The number before the move at a ply of a line: `6.` or `5…`. */
export function moveNumber(line: NumberedLine, variant: Variant, ply: number): string {
  const { number, second } = numberAt(numbering(line, variant), ply);
  return second ? `${number}…` : `${number}.`;
}

/** The task in one sentence. `line` leads to the position of a repertoire. */
export function taskText({ variant, kind, side, mate, source }: Exercise, line?: NumberedLine): string {
  const name = sideName(side, variant);
  if (kind === 'repertoire') {
    const last = line?.moves.at(-1);
    if (!line || !last) return t('training.first_move');
    // The notation of shogi has no numbers.
    const number = variant === 'shogi' ? '' : moveNumber(line, variant, line.moves.length);
    return t('training.your_move', { move: number + moveText(last.text) });
  }
  if (kind === 'mistake' && source.played)
    return t('report.better', { side: name, move: moveText(source.played.text) });
  if (kind !== 'mate') return t('training.find_best', { side: name });
  if (mate === null) return t('training.find_mate', { side: name });
  const key: Key = variant === 'shogi' ? 'training.tsume' : 'training.mate_in';
  return t(key, { side: name, count: mate });
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The time until a review, in minutes or days. */
export function intervalText(milliseconds: number): string {
  const [count, unit] =
    milliseconds < DAY / 2
      ? [Math.max(1, Math.round(milliseconds / MINUTE)), 'minute']
      : [Math.ceil(milliseconds / DAY), 'day'];
  return new Intl.NumberFormat(language(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}

/** The share of solved reviews in percent; none without reviews. */
export function successRate({ reviews, solved }: { reviews: number; solved: number }): number | null {
  return reviews ? Math.round((100 * solved) / reviews) : null;
}

/** A theme as text: `mateIn2` is “mate in 2”. */
export const themeText = (theme: string) =>
  theme.replace(/([a-z])([A-Z0-9])/g, (_, before: string, next: string) => `${before} ${next.toLowerCase()}`);

/** A finished exercise of this session. */
export interface Done {
  id: number;
  right: boolean;
  /** What was asked, and the answer. */
  position: string;
  move: string;
  /** Milliseconds until the next review. */
  wait: number;
}
