// What the charts of a report show: evaluations, move times and clocks along the main line.
import type { Judged, Label, ReportSettings, ReportState, Side, Variant } from '../../api/wire';
import { chances, clockText, moveText, scoreText } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import type { Game } from '../../store/apply';
import type { GameId } from '../../store/ids';
import { act } from '../../store/server.svelte';
import { mainLine, moverOf, numberText } from '../../store/tree';
import { timesOf } from '../board/clock';
import { isMistake } from './report';

export interface Point {
  x: number;
  /** Winning chances of the first side in percent; null if unknown. */
  y: number | null;
  /** For the pointer and for screen readers. */
  text: string;
  label: Label | null;
}

/** The evaluations of the main line: those of the report, or else those of the record. */
export function evaluationPoints(game: Game, report: ReportState | undefined): Point[] {
  return [game.nodes.get(game.root), ...mainLine(game)].map((node, x) => {
    const judged = report?.positions[x] ?? null;
    const own = node?.evaluation?.score ?? node?.engine?.evaluation?.score ?? null;
    const score = judged?.score ?? own;
    const move =
      node && node.ply > 0 ? `${numberText(game, node)} ${moveText(node.text)}` : t('report.start');
    return {
      x,
      y: judged ? judged.winning : own ? chances(own, game.variant) : null,
      text: `${move}${score ? `: ${scoreText(score, game.variant)}` : ''}${judged?.label ? `, ${t(`label.${judged.label}`)}` : ''}`,
      label: judged && isMistake(judged.label) ? judged.label : null,
    };
  });
}

/** The scale of winning chances in pawns, or in points of shogi engines. */
export function scale(variant: Variant): { at: number; text: string }[] {
  const step = variant === 'shogi' ? 500 : 300;
  return [step, 0, -step].map((value) => ({
    at: chances({ kind: 'cp', value }, variant),
    text: value === 0 ? '0' : `${value > 0 ? '+' : '−'}${variant === 'shogi' ? step : step / 100}`,
  }));
}

/** Move numbers at the axis, without crowding. */
export function numbers(game: Game, plies: number): { at: number; text: string }[] {
  const perNumber = game.variant === 'shogi' ? 1 : 2;
  const every = [10, 20, 50, 100, 200, 500, 1000].find((step) => plies / (step * perNumber) <= 10) ?? 5000;
  const found = [];
  for (let number = every; number * perNumber < plies; number += every) {
    found.push({ at: number * perNumber, text: String(game.first_number - 1 + number) });
  }
  return found;
}

export interface Times {
  bars: { x: number; y: number; first: boolean }[];
  /** Remaining times by side. */
  clocks: { name: Side; dashed: boolean; points: { x: number; y: number }[] }[];
  texts: string[];
}

/** The times of the moves and clocks in percent of the longest; null without times. */
export function timesAlong(game: Game): Times | null {
  const timing = timesOf(game);
  const line = mainLine(game);
  const longest = timing.reduce((most, one) => Math.max(most, one.elapsed ?? 0), 1);
  const most = timing.reduce((most, one) => Math.max(most, one.left ?? 0), 1);
  const found: Times = {
    bars: [],
    clocks: [
      { name: 'first', dashed: false, points: [] },
      { name: 'second', dashed: true, points: [] },
    ],
    texts: [''],
  };
  for (const [index, node] of line.entries()) {
    const { elapsed = null, left = null } = timing[index] ?? {};
    const side = moverOf(game, node);
    const x = index + 1;
    if (elapsed !== null) found.bars.push({ x, y: (elapsed / longest) * 100, first: side === 'first' });
    if (left !== null) found.clocks[side === 'first' ? 0 : 1]?.points.push({ x, y: (left / most) * 100 });
    const parts = [
      elapsed === null ? '' : clockText(elapsed),
      left === null ? '' : t('report.left', { time: clockText(left) }),
    ].filter(Boolean);
    found.texts.push(parts.length ? `${moveText(node.text)}: ${parts.join(', ')}` : '');
  }
  return found.bars.length || found.clocks.some(({ points }) => points.length) ? found : null;
}

/** The mistakes of a report in order. */
export const judgedMistakes = (report: ReportState | undefined): Judged[] =>
  (report?.positions ?? []).filter((one): one is Judged => one !== null && isMistake(one.label));

export function startReport(game: GameId, settings: ReportSettings | null) {
  if (settings) void act({ kind: 'start_report', on: { kind: 'games', games: [game] }, settings });
}
