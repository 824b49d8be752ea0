import { expect, test } from 'vitest';
import { isRecord } from './entry';

test.each([
  'Nf3',
  'e2e4',
  'e8=Q+',
  'O-O-O',
  '７六歩',
  '同　銀',
  '同 銀',
  '▲７六歩(77)',
  'P*5e',
  'P-7f',
  '8822+',
])('takes %s for a move', (text) => expect(isRecord(text)).toBe(false));

test.each([
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  '4k4/9/9/9/9/9/9/9/4K4 b G 1',
  'startpos moves e2e4',
  '1. e4 e5',
  '1.e4',
  'e4 e5',
  '[White "A"]',
  'https://lichess.org/abcd1234',
  '手合割：平手',
  '１　７六歩\n２　３四歩',
])('takes %s for a record', (text) => expect(isRecord(text)).toBe(true));
