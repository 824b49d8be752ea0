import { expect, test } from 'vitest';
import { takeWanted, wantPosition } from './wanted';

test('a position is looked for once', () => {
  expect(takeWanted()).toEqual({ variant: '', position: '' });
  wantPosition('shogi', 'sfen');
  expect(takeWanted()).toEqual({ variant: 'shogi', position: 'sfen' });
  expect(takeWanted()).toEqual({ variant: '', position: '' });
});
