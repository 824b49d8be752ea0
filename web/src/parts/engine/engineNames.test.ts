import { expect, test } from 'vitest';
import type { FoundEngine } from '../../api/wire';
import { distinctNames } from './engineNames';

const found = (name: string, path: string): FoundEngine => ({
  entry: { name, source: { kind: 'program', path, args: [], dir: null, env: {} }, protocol: 'uci' },
  author: '',
  values: {},
  recommended: {},
  evaluation: null,
  list: null,
  registered: false,
});

test('distinguishes programs with the same name by their files', () => {
  const engines = [
    found('GNU Chess 6.2.7', '/usr/games/gnuchess'),
    found('GNU Chess 6.2.7', '/usr/games/gnuchessu'),
    found('Stockfish 17', 'C:\\engines\\stockfish.exe'),
  ];
  expect(distinctNames(engines)).toEqual([
    'GNU Chess 6.2.7 (gnuchess)',
    'GNU Chess 6.2.7 (gnuchessu)',
    'Stockfish 17',
  ]);
});
