// Texts of matches.
import type {
  AdjudicationConditions,
  AuditStatus,
  EncounterScore,
  MatchEnd,
  MatchSource,
  OpeningConditions,
  Rating,
  PlanLimits,
  SprtSettings,
  WorkerFlag,
} from '../../api/wire';
import { t } from '../../i18n/index.svelte';

/** A number with its sign, and a minus sign of the width of a plus. */
export function signed(value: number, digits = 1): string {
  const text = Math.abs(value).toFixed(digits);
  const isZero = Number(text) === 0;
  return `${isZero ? '' : value > 0 ? '+' : '−'}${text}`;
}

/** Elo with its error; empty if it is not defined. */
export function eloText(rating: Rating | null | undefined, digits = 1): string {
  if (!rating || rating.elo === null) return '';
  const error = rating.error === null ? '' : ` ± ${rating.error.toFixed(digits)}`;
  return `${signed(rating.elo, digits)}${error}`;
}

/** A number with separators of thousands. */
export const grouped = (count: number) => count.toLocaleString('en');

/** A duration in the largest two units. */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days) return t('duration.days', { days, hours });
  if (hours) return t('duration.hours', { hours, minutes: minutes % 60 });
  if (minutes) return t('duration.minutes', { minutes });
  return t('duration.seconds', { seconds: Math.max(0, Math.floor(ms / 1000)) });
}

/** The limits of a search. */
export function limitsText({ tc, byoyomi_ms, move_time_ms, nodes, depth }: PlanLimits): string {
  return [
    tc ? `${tc} s` : '',
    byoyomi_ms ? t('match.limit.byoyomi', { seconds: byoyomi_ms / 1000 }) : '',
    move_time_ms ? t('match.limit.move_time', { seconds: move_time_ms / 1000 }) : '',
    nodes ? t('match.limit.nodes', { nodes: grouped(nodes) }) : '',
    depth ? t('match.limit.depth', { depth }) : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** The last part of a path. */
export const fileName = (path: string) => path.split(/[\\/]/).at(-1) ?? path;

export function openingsText({ kind, name, count, order, skip, plies }: OpeningConditions): string {
  const source =
    kind === 'file' || kind === 'handicap' ? fileName(name ?? '') : t(`match.opening.${kind}`, { count });
  return [
    source,
    kind === 'start' ? '' : t(`match.order.${order}`),
    plies === null ? '' : t('match.opening.plies', { plies }),
    skip ? t('match.opening.skip', { skip }) : '',
  ]
    .filter(Boolean)
    .join(', ');
}

export function adjudicationText({ draw, resign, max_moves, tablebases }: AdjudicationConditions): string {
  return (
    [
      draw ? t('match.rule.draw', { rule: `${draw.from_move}/${draw.moves}/${draw.score}` }) : '',
      resign ? t('match.rule.resign', { rule: `${resign.moves}/${resign.score}` }) : '',
      max_moves === null ? '' : t('match.rule.max_moves', { moves: max_moves }),
      tablebases ? 'Syzygy' : '',
    ]
      .filter(Boolean)
      .join(' · ') || t('match.rule.none')
  );
}

export function boundsText({ elo0, elo1, alpha, beta, model }: SprtSettings): string {
  const rates = alpha === beta ? `α = β = ${alpha}` : `α = ${alpha}, β = ${beta}`;
  return `[${elo0}, ${elo1}] ${model ?? 'normalized'} · ${rates}`.replaceAll('-', '−');
}

export function sourceText(source: MatchSource): string {
  if (source.kind === 'local') return t('match.source.local', { count: source.concurrency });
  return source.cores
    ? t('match.source.farm', { workers: source.workers, cores: source.cores })
    : t('match.source.workers', { workers: source.workers });
}

/** The pairs of a match of two engines by half points: 0, ½, 1, 1½, 2. */
export function pentanomial(score: EncounterScore | undefined): number[] | null {
  if (!score) return null;
  const [ll, ld, wl, dd, wd, ww] = score.pairs;
  const counts = [ll, ld, wl + dd, wd, ww];
  return counts.some((count) => count > 0) ? counts : null;
}

/** The end of a match of these engines. */
export function endText(end: MatchEnd, names: string[] = []): string {
  switch (end.kind) {
    case 'test':
      return end.verdict === 'continue' ? '' : t(`match.end.${end.verdict}`);
    case 'takes':
      return end.accepted === null
        ? t('error.takes_dropped')
        : `${names[end.accepted] ?? ''}: ${t('match.take.accepted')}`;
    case 'error':
      return end.text;
    default:
      return t(`match.end.${end.kind}`);
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
