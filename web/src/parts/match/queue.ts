// Texts of the match queue.
import type { AuditStatus, EncounterScore, MatchEnd, Rating, WorkerFlag } from '../../api/wire';
import { t } from '../../i18n/index.svelte';

/** The number of complete pairs, and of all of them if it is limited. */
export function pairsText({ pairs, total }: { pairs: number; total: number }): string {
  return total ? `${pairs} / ${total}` : `${pairs}`;
}

/** Wins, draws and losses of a match of two engines. */
export function gamesText(score: EncounterScore | null | undefined): string {
  return score ? `+${score.wins} =${score.draws} −${score.losses}` : '';
}

export function eloText(rating: Rating | null, label = ''): string {
  if (!rating || rating.elo === null) return '';
  const error = rating.error === null ? '' : ` ± ${rating.error.toFixed(1)}`;
  return `${label}${rating.elo.toFixed(1)}${error}`;
}

/** The pairs of a match of two engines by half points: 0, ½, 1, 1½, 2. */
export function pentanomial(score: EncounterScore | undefined): number[] | null {
  if (!score) return null;
  const [ll, ld, wl, dd, wd, ww] = score.pairs;
  const counts = [ll, ld, wl + dd, wd, ww];
  return counts.some((count) => count > 0) ? counts : null;
}

export function endText(end: MatchEnd): string {
  switch (end.kind) {
    case 'test':
      return end.verdict;
    case 'error':
      return end.text;
    default:
      return end.kind;
  }
}

export function flagText(flag: WorkerFlag): string {
  switch (flag.kind) {
    case 'results':
      return t('queue.flag.results', { p: flag.p.toExponential(1) });
    case 'time-losses':
      return t('queue.flag.time_losses', { p: flag.p.toExponential(1) });
    case 'crashes':
      return t('queue.flag.crashes', { p: flag.p.toExponential(1) });
    case 'speed':
      return t('queue.flag.speed', { ratio: flag.ratio.toFixed(2) });
    case 'replays':
      return t('queue.flag.replays', { p: flag.p.toExponential(1) });
    case 'invalid':
      return t('queue.flag.invalid', { count: flag.count });
  }
}

/** The audits of a match; empty before the first one. */
export function auditsText(audits: AuditStatus): string {
  const { made, open, differing, flagged, not_made: notMade, gap } = audits;
  if (!made && !open && !notMade && !gap) return '';
  return [
    t('queue.audits', { made, open, differing, flagged }),
    notMade ? t('queue.audits.not_made', { count: notMade }) : '',
    gap ? t(`queue.gap.${gap}`) : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Options as lines `Name=value`. */
export function optionLines(options: Record<string, string>): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

export function readOptions(lines: string): Record<string, string> {
  const options: Record<string, string> = {};
  for (const line of lines.split('\n')) {
    const at = line.indexOf('=');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    if (name) options[name] = at < 0 ? '' : line.slice(at + 1).trim();
  }
  return options;
}
