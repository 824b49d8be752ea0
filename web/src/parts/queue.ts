// Texts of the match queue.
import { t } from '../i18n/index.svelte';
import type { Flag, QueueStatus } from '../store/queue.svelte';

/** The number of complete pairs, and of all of them if it is limited. */
export function pairsText({ pairs, total }: QueueStatus): string {
  return total ? `${pairs} / ${total}` : `${pairs}`;
}

/** Wins, draws and losses of a match of two engines. */
export function gamesText({ scores: [score, ...more] }: QueueStatus): string {
  return score && !more.length ? `+${score.wins} =${score.draws} −${score.losses}` : '';
}

export function eloText({ elo }: QueueStatus, label = ''): string {
  if (!elo || elo.elo === null) return '';
  const error = elo.error === null ? '' : ` ± ${elo.error.toFixed(1)}`;
  return `${label}${elo.elo.toFixed(1)}${error}`;
}

/** The pairs of a match of two engines by half points: 0, ½, 1, 1½, 2. */
export function pentanomial({ scores: [score, ...more] }: QueueStatus): number[] | null {
  if (!score || more.length) return null;
  const [ll, ld, wl, dd, wd, ww] = score.pairs;
  const counts = [ll, ld, wl + dd, wd, ww];
  return counts.some((count) => count > 0) ? counts : null;
}

export function flagText(flag: Flag): string {
  const p = (flag.p ?? 0).toExponential(1);
  switch (flag.kind) {
    case 'results':
      return t('queue.flag.results', { p });
    case 'time-losses':
      return t('queue.flag.time_losses', { p });
    case 'crashes':
      return t('queue.flag.crashes', { p });
    case 'speed':
      return t('queue.flag.speed', { ratio: (flag.ratio ?? 1).toFixed(2) });
    default:
      return t('queue.flag.invalid', { count: flag.count ?? 0 });
  }
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
