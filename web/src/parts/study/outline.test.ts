import { expect, test } from 'vitest';
import type { Node } from '../../api/wire';
import type { Game } from '../../store/apply';
import { lineKey, outlineOf } from './outline';

/** A game of numbered moves: the children of each node. */
function gameOf(children: number[][]): Game {
  const nodes = new Map<number, Node>();
  children.forEach((ids, id) => {
    const parent = children.findIndex((all) => all.includes(id));
    nodes.set(id, { id, parent: parent < 0 ? null : parent, children: ids, uci: `m${id}` } as Node);
  });
  return { id: 1, root: 0, nodes } as Game;
}

/** `1 2 (3 4 (5) ) 6`, and an alternative to the first move: 7. */
const GAME = gameOf([[1, 7], [2, 3], [6], [4, 5], [], [], [], []]);

test('lists each line before its variations', () => {
  const lines = outlineOf(GAME).map(({ moves, depth }) => [depth, moves.map(({ id }) => id).join(' ')]);
  expect(lines).toEqual([
    [0, '1 2 6'],
    [1, '7'],
    [1, '3 4'],
    [2, '5'],
  ]);
});

test('identifies the line of each move by the moves before it', () => {
  const lines = outlineOf(GAME);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length);
  for (const { moves, key } of lines) for (const { id } of moves) expect(lineKey(GAME, id)).toBe(key);
});

test('has no lines without moves', () => {
  expect(outlineOf(gameOf([[]]))).toEqual([]);
});
