// Texts of exercises.
import type { Exercise, ExerciseGrade, ExerciseKind } from '../../api/wire';
import { language } from '../../app/prefs.svelte';
import type { Key } from '../../i18n/en';
import { moveText, sideName } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';

export const GRADES: readonly ExerciseGrade[] = ['again', 'hard', 'good', 'easy'];
export const KINDS: readonly ExerciseKind[] = ['mistake', 'mate', 'best_move'];

/** The grade that the course of an attempt suggests. */
export function suggestedGrade({ failed, hinted }: { failed: boolean; hinted: boolean }): ExerciseGrade {
  return failed ? 'again' : hinted ? 'hard' : 'good';
}

/** The task in one sentence. */
export function taskText({ variant, kind, side, mate, source }: Exercise): string {
  const name = sideName(side, variant);
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
