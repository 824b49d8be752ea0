// A server with known games, for the pictures of the pages.
import type { Judged, Label, LegalMove, LibraryGame, Line, LineMove, Variant } from '../src/api/wire';
import { fullServer } from './everything';
import {
  analysis,
  engine,
  game,
  gameLine,
  legal,
  line,
  node,
  open,
  positionView,
  storePrefs,
  type FakeServer,
} from './fakeServer';

/** Kasparov – Topalov, Wijk aan Zee 1999, and the scores of its positions in centipawns. */
const CHESS =
  'e2e4 e4 d7d6 d6 d2d4 d4 g8f6 Nf6 b1c3 Nc3 g7g6 g6 c1e3 Be3 f8g7 Bg7 d1d2 Qd2 c7c6 c6 f2f3 f3 b7b5 b5 ' +
  'g1e2 Nge2 b8d7 Nbd7 e3h6 Bh6 g7h6 Bxh6 d2h6 Qxh6 c8b7 Bb7 a2a3 a3 e7e5 e5 e1c1 O-O-O d8e7 Qe7 c1b1 Kb1 ' +
  'a7a6 a6 e2c1 Nc1 e8c8 O-O-O c1b3 Nb3 e5d4 exd4 d1d4 Rxd4 c6c5 c5 d4d1 Rd1 d7b6 Nb6 g2g3 g3 c8b8 Kb8 ' +
  'b3a5 Na5 b7a8 Ba8 f1h3 Bh3 d6d5 d5 h6f4 Qf4+ b8a7 Ka7 h1e1 Rhe1 d5d4 d4 c3d5 Nd5 b6d5 Nbxd5 e4d5 exd5 ' +
  'e7d6 Qd6 d1d4 Rxd4 c5d4 cxd4 e1e7 Re7+ a7b6 Kb6 f4d4 Qxd4+ b6a5 Kxa5 b2b4 b4+ a5a4 Ka4 d4c3 Qc3 ' +
  'd6d5 Qxd5 e7a7 Ra7 a8b7 Bb7 a7b7 Rxb7 d5c4 Qc4 c3f6 Qxf6 a4a3 Kxa3 f6a6 Qxa6+ a3b4 Kxb4 c2c3 c3+ ' +
  'b4c3 Kxc3 a6a1 Qa1+ c3d2 Kd2 a1b2 Qb2+ d2d1 Kd1 h3f1 Bf1 d8d2 Rd2 b7d7 Rd7 d2d7 Rxd7 f1c4 Bxc4 b5c4 bxc4 ' +
  'b2h8 Qxh8 d7d3 Rd3 h8a8 Qa8 c4c3 c3 a8a4 Qa4+ d1e1 Ke1 f3f4 f4 f7f5 f5 b1c1 Kc1 d3d2 Rd2 a4a7 Qa7';
const SCORES =
  '36 44 51 54 55 68 75 69 61 58 41 39 36 35 37 26 24 37 30 60 33 28 41 62 25 62 32 52 41 49 44 37 4 30 -4 ' +
  '-12 -37 -26 -63 -63 -81 -70 -106 -109 -77 -120 -118 -87 -196 -190 -201 -189 -33 84 94 104 42 132 26 126 ' +
  '118 200 220 225 235 244 241 243 259 257 261 255 258 255 245 266 266 268 265 328 315 341 325 384 398 386 ' +
  '438';
/** The position after ten plies, and its legal moves. */
const PIRC = 'rnbqk2r/pp2ppbp/2pp1np1/8/3PP3/2N1B3/PPPQ1PPP/R3KBNR w KQkq - 0 6';
const REPLIES =
  'e3h6 Bh6 e3g5 Bg5 c3d5 Nd5 g1f3 Nf3 f1e2 Be2 f1d3 Bd3 e1c1 O-O-O e4e5 e5 h2h3 h3 f2f3 f3 f2f4 f4 a2a4 a4';
const LINES = [
  [
    75,
    'g1f3 Nf3 b8d7 Nbd7 e3h6 Bh6 g7h6 Bxh6 d2h6 Qxh6 e7e5 e5 f1e2 Be2 b7b5 b5 a2a3 a3 d8e7 Qe7 h2h3 h3 a7a6 a6',
  ],
  [
    68,
    'e3h6 Bh6 g7h6 Bxh6 d2h6 Qxh6 e7e5 e5 e1c1 O-O-O b8d7 Nbd7 f1e2 Be2 b7b5 b5 d4e5 dxe5 d6e5 dxe5 f2f4 f4',
  ],
  [
    52,
    'h2h3 h3 e8g8 O-O g1f3 Nf3 b7b5 b5 e4e5 e5 d6e5 dxe5 d4e5 dxe5 d8d2 Qxd2+ f3d2 Nxd2 f6d5 Nd5 c3d5 Nxd5',
  ],
] as const;
/** An opening of shogi, and its position. */
const SHOGI =
  '7g7f P-7f ▲７六歩 3c3d P-3d △３四歩 2g2f P-2f ▲２六歩 8c8d P-8d △８四歩 2f2e P-2e ▲２五歩 8d8e P-8e △８五歩 ' +
  '6i7h G-7h ▲７八金 4a3b G-3b △３二金 2e2d P-2d ▲２四歩 2c2d Px2d △同　歩 2h2d Rx2d ▲同　飛 8e8f P-8f △８六歩 ' +
  '8g8f Px8f ▲同　歩 8b8f Rx8f △同　飛';
const RIVAL = 'lnsgk1snl/6gb1/p1pppp2p/6pR1/9/1rP6/P2PPPP1P/1BG6/LNS1KGSNL b 2P2p 15';
const SHOGI_LINES = [
  [42, '2d3d Rx3d ▲３四飛 2b3c B-3c △３三角 3i3h S-3h ▲３八銀 8f7f Rx7f △７六飛 8h7g B-7g ▲７七角'],
  [31, 'P*8g P*8g ▲８七歩打 8f8d R-8d △８四飛 2d2h R-2h ▲２八飛 P*2c P*2c △２三歩打'],
  [12, '7i6h S-6h ▲６八銀 7a7b S-7b △７二銀 P*8g P*8g ▲８七歩打 8f7f Rx7f △７六飛'],
] as const;

const PLAYERS = [
  'Kasparov, Garry',
  'Topalov, Veselin',
  'Anand, Viswanathan',
  'Shirov, Alexei',
  'Svidler, Peter',
  'Adams, Michael',
  'Ponomariov, Ruslan',
  'Ivanchuk, Vassily',
  'Carlsen, Magnus',
  'Nakamura, Hikaru',
];
const OPENINGS = [
  'B07 Pirc Defense',
  'C65 Ruy Lopez: Berlin Defense',
  'B90 Sicilian Defense: Najdorf Variation',
  'D85 Grünfeld Defense',
  'E15 Queen’s Indian Defense',
];
const EVENTS = ['Wijk aan Zee', 'Linares', 'Dortmund', 'Candidates'];
const RESULTS = ['1-0', '1/2-1/2', '0-1'];
const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T;

/** The notation and the texts of moves: two tokens each, three in shogi. */
function movesOf(variant: Variant, text: string): LineMove[] {
  const tokens = text.split(' ');
  const size = variant === 'shogi' ? 3 : 2;
  return Array.from({ length: tokens.length / size }, (_, index) => {
    const [uci = '', western = '', japanese] = tokens.slice(size * index, size * (index + 1));
    return { uci, text: japanese === undefined ? { western } : { western, japanese } };
  });
}

const legalMoves = (text: string): LegalMove[] =>
  movesOf('chess', text).map(({ uci, text: { western } }) => legal(uci, western));

function lines(variant: Variant, all: readonly (readonly [number, string])[]): Line[] {
  return all.map(([value, pv], index) => ({
    ...line(index + 1, value, []),
    depth: 24 - index,
    pv: movesOf(variant, pv),
  }));
}

/** A line of moves as nodes, with evaluations and clocks where they are known. */
function nodesOf(variant: Variant, text: string, scores: number[] = []) {
  const moves = movesOf(variant, text);
  return [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    ...moves.map(({ uci, text: name }, index) =>
      node(index + 1, index, index + 1, uci, name, {
        children: index + 1 < moves.length ? [index + 2] : [],
        clock: scores.length ? 7_200_000 - 61_000 * Math.ceil((index + 1) / 2) : null,
        engine: scores.length
          ? {
              evaluation: { score: { kind: 'cp', value: scores[index] ?? 0 }, depth: 16 },
              nag: null,
              better: [],
            }
          : null,
      }),
    ),
  ];
}

/** The label of a loss of winning chances in percent. */
const labelOf = (loss: number): Label | null =>
  loss >= 20 ? 'blunder' : loss >= 12 ? 'mistake' : loss >= 7 ? 'inaccuracy' : null;
const winning = (score: number) => 100 / (1 + Math.exp(-0.00368 * score));

function judgements(scores: number[]): Judged[] {
  return [30, ...scores].map((value, ply, all) => {
    const change = ply === 0 ? 0 : winning(value) - winning(all[ply - 1] ?? 0);
    const loss = ply === 0 ? null : Math.max(0, ply % 2 ? -change : change);
    return {
      ply,
      node: ply,
      score: { kind: 'cp', value },
      winning: winning(value),
      best: [],
      depth: 16,
      loss,
      label: loss === null ? null : labelOf(loss),
    };
  });
}

const chessGame = (id: number, cursor: number, more: Parameters<typeof game>[2] = {}) =>
  game(id, 'chess', {
    headers: [
      { name: 'White', value: 'Kasparov, Garry' },
      { name: 'Black', value: 'Topalov, Veselin' },
      { name: 'Event', value: 'Wijk aan Zee' },
      { name: 'Date', value: '1999.01.20' },
    ],
    ratings: { first: 2812, second: 2700 },
    nodes: nodesOf('chess', CHESS, SCORES.split(' ').map(Number)),
    cursor,
    opening: { eco: 'B07', name: 'Pirc Defense' },
    position: positionView(PIRC, legalMoves(REPLIES), { last: { from: 'c7', to: 'c6' } }),
    ...more,
  });

const shogiGame = (id: number, more: Parameters<typeof game>[2] = {}) =>
  game(id, 'shogi', {
    nodes: nodesOf('shogi', SHOGI),
    cursor: 14,
    position: positionView(
      RIVAL,
      movesOf('shogi', '2d3d Rx3d ▲３四飛 P*8g P*8g ▲８七歩打 7i6h S-6h ▲６八銀').map(({ uci, text }) =>
        legal(uci, text.western, text.japanese),
      ),
      { last: { from: '8b', to: '8f' } },
    ),
    ...more,
  });

const libraryGame = (id: number): LibraryGame => ({
  id,
  variant: 'chess',
  names: { first: at(PLAYERS, 3 * id), second: at(PLAYERS, 3 * id + 1 + (id % 5)) },
  ratings: { first: 2812 - ((37 * id) % 150), second: 2700 + ((53 * id) % 120) },
  result: at(RESULTS, id + (id >> 2)),
  termination: null,
  date: `${1999 + (id % 9)}-0${1 + (id % 7)}-${10 + (id % 18)}`,
  event: at(EVENTS, id),
  opening: at(OPENINGS, id),
  plies: 60 + ((29 * id) % 80),
  added: 0,
  changed: 1_764_000_000_000 - id,
  source: 'import',
  labels: id % 11 === 3 ? ['endgames'] : [],
  evaluated: id % 3 === 0,
  commented: id % 4 === 1,
});

/** The boards 1 and 3 are analyses of chess and shogi; 2 and 4 are games that are played. */
export function illustrated(): FakeServer {
  const fake = fullServer('en');
  storePrefs(fake, { language: 'en', explorer: 'true', name: 'Ada' });
  const played = (id: number, opponent: string) => {
    const topic = fake.topics.get(`game/${id}`);
    const play = topic?.kind === 'game' ? topic.state.play : null;
    if (play) play.players.second.name = opponent;
    return play;
  };
  const [chess, shogi] = [played(2, 'Stockfish 17.1'), played(3, 'Narikin')];
  const engines = [
    ['Narikin', ''],
    ['Stockfish 17.1', '/usr/games/stockfish'],
    ['YaneuraOu', '/opt/yaneuraou/yaneuraou'],
  ] as const;
  const topic = fake.topics.get('engines');
  if (topic?.kind === 'engines')
    topic.state = {
      ...topic.state,
      engines: engines.map(([name, path], index) =>
        engine(index + 1, name, {
          identity: { name, author: 'its authors' },
          ...(path ? { source: { kind: 'program', path, args: [], dir: null, env: {} } } : {}),
          variants:
            index === 2 ? ['shogi'] : index === 1 ? ['chess', 'chess960'] : ['chess', 'chess960', 'shogi'],
          protocol: index === 2 ? 'usi' : 'uci',
        }),
      ),
    };
  const scores = SCORES.split(' ').map(Number);
  open(fake, chessGame(1, 10), [analysis(10, lines('chess', LINES), { engine: 2 })]);
  open(fake, shogiGame(3), [analysis(14, lines('shogi', SHOGI_LINES), { engine: 3 })]);
  open(
    fake,
    chessGame(2, 10, {
      nodes: nodesOf('chess', CHESS.split(' ').slice(0, 20).join(' ')),
      ratings: { first: null, second: null },
      headers: [],
      play: chess,
    }),
  );
  open(fake, shogiGame(4, { play: shogi }));
  const positions = judgements(scores);
  const count = (label: Label, side: number) =>
    positions.filter((one) => one.label === label && one.ply % 2 === side).length;
  const sideReport = (accuracy: number, average_loss: number, side: number) => ({
    accuracy,
    average_loss,
    inaccuracies: count('inaccuracy', side),
    mistakes: count('mistake', side),
    blunders: count('blunder', side),
  });
  fake.topics.set('report/1', {
    kind: 'report',
    state: {
      settings: null,
      status: 'done',
      done: positions.length,
      total: positions.length,
      positions,
      sides: { first: sideReport(94.5, 21, 1), second: sideReport(93.4, 24, 0) },
      error: null,
    },
  });
  const counts = (first: number, draws: number, second: number) => ({ first, draws, second, unknown: 0 });
  fake.http.set('explorer', {
    kind: 'library',
    counts: counts(560, 361, 302),
    moves: (
      [
        ['f2f3', 'f3', counts(190, 119, 103), 2388],
        ['e3h6', 'Bh6', counts(137, 64, 67), 2402],
        ['g1f3', 'Nf3', counts(99, 72, 60), 2361],
        ['e1c1', 'O-O-O', counts(80, 36, 48), 2344],
        ['h2h3', 'h3', counts(37, 29, 22), 2410],
        ['f2f4', 'f4', counts(16, 11, 14), 2297],
      ] as const
    ).map(([uci, western, results, rating]) => ({
      uci,
      text: { western },
      counts: results,
      rating,
      performance: null,
      last_played: '2026-05-01',
    })),
    games: Array.from({ length: 10 }, (_, index) => libraryGame(index + 1)),
  });
  fake.http.set('library/search', {
    games: Array.from({ length: 60 }, (_, index) => libraryGame(index + 1)),
    total: 84_787,
    labels: [{ label: 'endgames', games: 312 }],
    undecided: 0,
  });
  const preview = chessGame(1, 10);
  fake.http.set('library/preview', {
    variant: 'chess',
    first_turn: 'first',
    first_number: 1,
    ply: 10,
    position: preview.position,
    moves: preview.nodes.slice(1).map(({ text }) => ({ text, nags: [] })),
    plies: 87,
  });
  const board = (id: number, more: Parameters<typeof gameLine>[1]) => gameLine(id, { changed: -id, ...more });
  fake.topics.set('games', {
    kind: 'games',
    state: {
      games: [
        board(1, {
          names: { first: 'Kasparov, Garry', second: 'Topalov, Veselin' },
          event: 'Wijk aan Zee',
          date: '1999-01-20',
          plies: 87,
          result: '1-0',
        }),
        board(2, { names: { first: 'Ada', second: 'Stockfish 17.1' }, plies: 10, playing: true }),
        board(3, { variant: 'shogi', plies: 14, draft: true }),
        board(4, { variant: 'shogi', names: { first: 'Ada', second: 'Narikin' }, plies: 14, playing: true }),
      ],
    },
  });
  return fake;
}
