// Games of the tests with the fake server.
import type { Variant } from '../src/api/wire';
import { analysis, defaultServer, engine, game, gameLine, line, node, open, storePrefs } from './fakeServer';

const CHESS = [
  ['e2e4', 'e4'],
  ['e7e5', 'e5'],
  ['g1f3', 'Nf3'],
  ['b8c6', 'Nc6'],
] as const;
const SHOGI = [
  ['7g7f', 'P-7f', '▲７六歩'],
  ['3c3d', 'P-3d', '△３四歩'],
] as const;

function text(variant: Variant, index: number) {
  if (variant === 'shogi') {
    const [uci, western, japanese] = SHOGI[index % 2] ?? SHOGI[0];
    return { uci, text: { western, japanese } };
  }
  const [uci, western] = CHESS[index % 4] ?? CHESS[0];
  return { uci, text: { western } };
}

/** A game with `plies` moves, and a nested variation of the third move. */
export function longGame(variant: Variant, plies: number, cursor: number) {
  const nodes = [node(0, null, 0, '', { western: '' }, { children: [1] })];
  for (let id = 1; id <= plies; id++) {
    const { uci, text: name } = text(variant, id - 1);
    const children = id === plies ? [] : id === 2 ? [3, 20_001] : [id + 1];
    nodes.push(node(id, id - 1, id, uci, name, { children }));
  }
  const more = (id: number, parent: number, ply: number, children: number[]) => {
    const { uci, text: name } = text(variant, ply);
    nodes.push(node(id, parent, ply, uci, name, { children }));
  };
  more(20_001, 2, 3, [20_002]);
  more(20_002, 20_001, 4, [20_003, 20_010]);
  more(20_003, 20_002, 5, [20_004]);
  more(20_004, 20_003, 6, []);
  more(20_010, 20_002, 5, [20_011]);
  more(20_011, 20_010, 6, []);
  return game(5, variant, { nodes, cursor });
}

/** An analysis by three engines. */
export function analyzed(variant: Variant, language: string, plies = 30) {
  const fake = defaultServer();
  storePrefs(fake, { language });
  const names = ['Narikin', 'Stockfish 17.1', 'Fairy-Stockfish'];
  fake.topics.set('engines', {
    kind: 'engines',
    state: {
      engines: names.map((name, index) => engine(index + 1, name)),
      processes: [],
      machine: { cores: 4, memory: 8000, system: 'linux', distributions: [] },
      search: null,
    },
  });
  const pv = Array.from({ length: 16 }, (_, index) => {
    const { uci, text: name } = text(variant, index);
    return [uci, name.western, 'japanese' in name ? name.japanese : undefined] as [string, string, string?];
  });
  const panels = names.map((_, index) =>
    analysis(
      4,
      [1, 2, 3].map((number) => line(number, 34, pv)),
      { engine: index + 1 },
    ),
  );
  open(fake, longGame(variant, plies, 4), panels);
  fake.topics.set('games', { kind: 'games', state: { games: [gameLine(5), gameLine(4), gameLine(3)] } });
  return fake;
}
