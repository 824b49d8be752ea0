import { expect, test } from 'vitest';
import { consumePendingPosition, setPendingPosition } from './pendingPosition';

test('returns a pending position once', () => {
  expect(consumePendingPosition()).toEqual({ variant: '', position: '' });
  setPendingPosition('shogi', 'sfen');
  expect(consumePendingPosition()).toEqual({ variant: 'shogi', position: 'sfen' });
  expect(consumePendingPosition()).toEqual({ variant: '', position: '' });
});
