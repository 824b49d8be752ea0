// The mistakes of a report.
import type { Judged, Label, Node, ReportState, Side } from '../api/wire';
import type { Game } from '../store/apply';
import type { NodeId } from '../store/ids';
import { moverOf } from '../store/tree';

/** A move labeled as a mistake by a report. */
export interface Mistake {
  judged: Judged;
  node: Node;
  /** The position before the mistake, and its best line. */
  before: NodeId;
  better: Judged['best'];
  side: Side;
}

const MISTAKES: Label[] = ['inaccuracy', 'mistake', 'blunder'];

export function isMistake(label: Label | null): boolean {
  return label !== null && MISTAKES.includes(label);
}

/** The mistakes of one or both sides, in order. */
export function mistakesOf(game: Game, report: ReportState | undefined, of: Side | null): Mistake[] {
  return (report?.positions ?? []).flatMap((judged) => {
    if (!judged || !isMistake(judged.label)) return [];
    const node = game.nodes.get(judged.node);
    // The game may have changed after the report.
    if (!node || node.parent === null) return [];
    const side = moverOf(game, node);
    if (of !== null && side !== of) return [];
    const better = report?.positions[judged.ply - 1]?.best ?? [];
    return [{ judged, node, before: node.parent, better, side }];
  });
}

/** The first mistake after a ply. */
export function nextMistake(mistakes: Mistake[], ply: number): Mistake | null {
  return mistakes.find((one) => one.judged.ply > ply) ?? null;
}

/** The 1-based number of the mistake at a ply. */
export function mistakeNumber(mistakes: Mistake[], ply: number): number {
  return mistakes.findIndex((one) => one.judged.ply === ply) + 1;
}
