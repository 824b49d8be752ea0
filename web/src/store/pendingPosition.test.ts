import { expect, test } from 'vitest';
import { consumePendingPosition, setPendingPosition } from './pendingPosition';

test('a position is looked for once', () => {
  expect(consumePendingPosition()).toEqual({ variant: '', position: '' });
  setPendingPosition('shogi', 'sfen');
  expect(consumePendingPosition()).toEqual({ variant: 'shogi', position: 'sfen' });
  expect(consumePendingPosition()).toEqual({ variant: '', position: '' });
});
