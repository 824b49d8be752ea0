// Learning from mistakes: which of them there are, and which comes next. Pure functions.
import type { Judged, Label, Node, ReportState, Side } from '../api/wire';
import type { Game } from '../store/apply';
import type { NodeId } from '../store/ids';
import { moverOf } from '../store/tree';

/** A move that a report holds to be a mistake. */
export interface Mistake {
  judged: Judged;
  node: Node;
  /** Where something better could have been played, and the line that the engine would play there. */
  before: NodeId;
  better: Judged['best'];
  side: Side;
}

const MISTAKES: Label[] = ['inaccuracy', 'mistake', 'blunder'];

export function isMistake(label: Label | null): boolean {
  return label !== null && MISTAKES.includes(label);
}

/** The mistakes of a side, or of both, in the order in which they were made. */
export function mistakesOf(game: Game, report: ReportState | undefined, of: Side | null): Mistake[] {
  return (report?.positions ?? []).flatMap((judged) => {
    if (!judged || !isMistake(judged.label)) return [];
    const node = game.nodes.get(judged.node);
    // The game may have been changed since.
    if (!node || node.parent === null) return [];
    const side = moverOf(game, node);
    if (of !== null && side !== of) return [];
    const better = report?.positions[judged.ply - 1]?.best ?? [];
    return [{ judged, node, before: node.parent, better, side }];
  });
}

/** The mistake after one; none after the last. */
export function nextMistake(mistakes: Mistake[], ply: number): Mistake | null {
  return mistakes.find((one) => one.judged.ply > ply) ?? null;
}

/** The place of a mistake among others, from 1 on. */
export function indexOf1(mistakes: Mistake[], ply: number): number {
  return mistakes.findIndex((one) => one.judged.ply === ply) + 1;
}
