import { expect, test } from 'vitest';
import type { Score, SearchInfo } from '../../api/wire';
import { PAUSE, nextAnnouncement } from './announce';

function info(depth: number, move: string, score: Score | null): SearchInfo {
  return {
    depth,
    lines: [{ number: 1, depth, score, bound: 'exact', pv: [{ uci: move, text: { western: move } }] }],
  } as unknown as SearchInfo;
}

const cp = (value: number): Score => ({ kind: 'cp', value });

test('skips the first depths unless a mate is found', () => {
  const next = (it: SearchInfo) => nextAnnouncement(it, 1, 55, null, 0);
  expect(next(info(3, 'e2e4', cp(30)))).toBeNull();
  expect(next(info(12, 'e2e4', cp(30)))?.move).toBe('e2e4');
  expect(next(info(3, 'd8h4', { kind: 'mate', plies: 1 }))).not.toBeNull();
  expect(next(info(12, 'e2e4', null))).toBeNull();
});

test('announces only changes, with a pause between them', () => {
  const first = nextAnnouncement(info(12, 'e2e4', cp(30)), 1, 53, null, 0);
  const again = (move: string, chances: number, at: number, node = 1) =>
    nextAnnouncement(info(13, move, cp(30)), node, chances, first, at);
  expect(again('e2e4', 54, PAUSE)).toBeNull();
  expect(again('d2d4', 53, PAUSE - 1)).toBeNull();
  expect(again('d2d4', 53, PAUSE)?.move).toBe('d2d4');
  expect(again('e2e4', 68, PAUSE)).not.toBeNull();
  expect(again('e2e4', 53, PAUSE, 2)).not.toBeNull();
});
