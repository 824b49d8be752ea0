// A server with something on every page.
import type {
  ClockState,
  EncounterScore,
  EngineOption,
  MatchBoard,
  MatchConditions,
  MatchEngine,
  MatchPlan,
  MatchState,
  Play,
  QueueLine,
  QueueMatch,
  QueueOverview,
  QueuePlan,
  TuneStatus,
  WorkerRow,
} from '../src/api/wire';
import {
  START,
  analysis,
  defaultServer,
  engine,
  game,
  gameLine,
  positionView,
  legal,
  line,
  node,
  open,
  storePrefs,
  type FakeServer,
} from './fakeServer';

const CLOCKS: ClockState = {
  remaining: { first: 3_723_000, second: 61_000 },
  byoyomi: { first: 0, second: 0 },
  increment: { first: 0, second: 0 },
  moves_to_go: { first: null, second: null },
  running: 'first',
  sent_at: 0,
};
export const NAMES = ['Stockfish 17.1 development version', 'Narikin', 'Fairy-Stockfish 11.1 NNUE'];

/** A game of a human against an engine. */
function playing(): Play {
  const time = { kind: 'none' } as const;
  return {
    status: 'your_turn',
    failure: null,
    players: {
      first: { player: { kind: 'human', name: 'Ada', time }, name: 'Ada', info: null, pondering: null },
      second: {
        player: {
          kind: 'engine',
          engine: 2,
          time,
          limits: { depth: null, nodes: null, time: null, mate: null },
          ponder: true,
          strength: null,
          options: {},
        },
        name: NAMES[0] ?? '',
        info: null,
        pondering: null,
      },
    },
    last_move_node: 0,
    clocks: CLOCKS,
    draw_offer: null,
    claim: null,
    hint: null,
    rematch: null,
  };
}

/** The conditions of a match of these engines. */
export function conditions(names: string[], more: Partial<MatchConditions> = {}): MatchConditions {
  return {
    game: 'chess',
    format: { kind: 'round-robin' },
    rounds: 500,
    pairs_per_encounter: 1,
    games_per_pair: 2,
    engines: names.map((name) => ({
      name,
      command: `/opt/engines/${name.toLowerCase().replaceAll(' ', '-')}`,
      source: null,
      hash: '4f81c0e0aa55'.padEnd(64, '0'),
      threads: '1',
      hash_mb: '16',
      files: [{ option: 'EvalFile', path: '/opt/nets/nk-0412.nnue', hash: 'cdcb1a5'.padEnd(64, '0') }],
      options: (name === names[0] ? { LmrHistory: '512' } : {}) as Record<string, string>,
      limits: { tc: '10+0.1', margin_ms: 0 },
      ponder: false,
    })),
    openings: {
      kind: 'file',
      name: '/opt/books/UHO_4060_v3.epd',
      count: 0,
      order: 'random',
      skip: 0,
      plies: null,
      hash: null,
    },
    adjudication: {
      draw: { from_move: 34, moves: 8, score: 10 },
      resign: { moves: 3, score: 400 },
      max_moves: null,
      tablebases: false,
    },
    test: null,
    tune: null,
    seed: '71840233',
    source: { kind: 'local', concurrency: 4 },
    started_ms: 1_764_000_000_000,
    ...more,
  };
}

const worker = (name: string, more: Partial<WorkerRow> = {}): WorkerRow => ({
  worker: name,
  pairs: 617,
  games: 1234,
  pentanomial: [5, 100, 400, 95, 7],
  trinomial: [234, 750, 250],
  time_losses: 1,
  crashes: 0,
  invalid: 0,
  nodes: 1,
  time_us: 1,
  nps: 1_234_567,
  replays: { pairs: 0, searches: 0, equal: 0, shares: 0, squares: 0 },
  flags: [],
  ...more,
});

/** What a match has in addition to its results. */
export const progress = () => ({
  strength: null,
  games_per_minute: 12.3,
  remaining_games: 574,
  workers: [worker('', { time_losses: 0 })],
  conditions: conditions(NAMES),
  log: [],
});

function matchState(): MatchState {
  const board = (number: number): MatchBoard => ({
    board: number,
    engines: { first: 0, second: 2 },
    text: START,
    last: [],
    moves: [],
    scores: { first: { kind: 'cp', value: 37 }, second: { kind: 'mate', plies: 5 } },
    clocks: CLOCKS,
  });
  return {
    takes: null,
    takes_curve: [],
    id: 3,
    plan: {
      name: 'Nightly match of three engines',
      variant: 'chess',
      openings: { kind: 'start' },
    } as MatchPlan,
    status: 'running',
    names: NAMES,
    played: 426,
    total: 1000,
    ...progress(),
    standings: [0, 1, 2].map((id) => ({
      engine: id,
      wins: 101,
      draws: 230,
      losses: 95,
      points: 216,
      elo: { elo: 12, error: 31 },
    })),
    scores: [
      [0, 1],
      [0, 2],
      [1, 2],
    ].map(([one = 0, other = 0]) => ({
      engine: one,
      opponent: other,
      wins: 101,
      draws: 230,
      losses: 95,
      pairs: [0, 0, 0, 0, 0, 0],
    })),
    test: null,
    curve: [10, 20, 30].map((count) => ({
      pairs: count / 2,
      games: count,
      elo: count,
      error: 20,
      score: 0.5,
      llr: null,
    })),
    boards: [1, 2, 3, 4].map(board),
    games: [
      {
        number: 1,
        round: 1,
        engines: { first: 0, second: 1 },
        outcome: { result: '1-0', termination: 'checkmate', detail: null },
        plies: 120,
      },
    ],
    log: [
      { at: 1_764_000_000_000, kind: 'started', pairs: 0 },
      {
        at: 1_764_000_300_000,
        kind: 'failure',
        engine: 2,
        worker: null,
        game: 1,
        termination: 'crash',
        detail: { code: 'exited', status: 3 },
      },
    ],
    note: { code: 'engine_failures_by', count: 2, cause: { code: 'exited', status: 3 } },
  };
}

function queue(fake: FakeServer) {
  const score: EncounterScore = {
    engine: 0,
    opponent: 1,
    wins: 500,
    draws: 1500,
    losses: 468,
    pairs: [10, 200, 20, 800, 190, 14],
  };
  const elo = { elo: 2.3, error: 4.5 };
  const summary: QueueLine = {
    id: 'abcdef0123456789',
    name: 'nightly-search-refactoring',
    phase: 'running',
    priority: 0,
    games: 2468,
    total: 20_000,
    score,
    elo,
    llr: 1.23,
    variant: 'chess',
    engines: 2,
    bounds: [0, 5],
    verdict: 'continue',
    tunes: false,
    updated_ms: 0,
    flagged: 1,
  };
  const name = 'worker-of-the-laboratory-01';
  const strength = { elo, normalized_elo: { elo: 4.1, error: 8 }, los: 0.84 };
  const test = { elo0: 0, elo1: 5, alpha: 0.05, beta: 0.05 };
  const details: QueueMatch = {
    id: summary.id,
    name: summary.name,
    phase: summary.phase,
    control: {
      priority: 0,
      paused: false,
      stop: false,
      excluded: [],
      max_workers: null,
      max_threads: null,
    },
    coordinator: 'coordinator-1',
    conditions: conditions(['lmr-history-v3', 'main'], {
      rounds: null,
      test,
      source: { kind: 'farm', workers: 1, cores: 64 },
    }),
    writable: true,
    has_results: true,
    games: [
      {
        number: 15,
        round: 1,
        engines: { first: 0, second: 1 },
        outcome: { result: '0-1', termination: 'time-forfeit', detail: null },
        plies: 61,
      },
    ],
    log: [
      { at: 1_764_000_000_000, kind: 'joined', worker: name },
      {
        at: 1_764_000_100_000,
        kind: 'failure',
        engine: 0,
        worker: name,
        game: 15,
        termination: 'time-forfeit',
        detail: { code: 'overrun', overrun_ms: 12 },
      },
      { at: 1_764_000_200_000, kind: 'invalid_result', worker: name, pair: 4, why: 'an illegal move' },
      { at: 1_764_000_300_000, kind: 'note', note: { code: 'system', text: 'a warning of the coordinator' } },
    ],
    status: {
      total: summary.total / 2,
      pairs: summary.games / 2,
      games: summary.games,
      scores: [score],
      standings: [
        { engine: 0, wins: 500, draws: 1500, losses: 468, points: 1250, elo },
        { engine: 1, wins: 468, draws: 1500, losses: 500, points: 1218, elo: { elo: -2.3, error: 4.5 } },
      ],
      test: { llr: 1.23, lower: -2.94, upper: 2.94, verdict: 'continue' },
      elo,
      strength,
      games_per_minute: 31,
      remaining_games: 4400,
      playing: 30,
      live: Array.from({ length: 12 }, (_, pair) => ({
        worker: name,
        pair,
        game: 0,
        first: 0,
        second: 1,
        since_ms: 1_764_000_000_000,
      })),
      curve: [100, 200].map((pairs) => ({
        pairs,
        games: 2 * pairs,
        elo: 2,
        error: 9,
        score: 0.5,
        llr: pairs / 300,
      })),
      tune: null,
      takes: null,
      takes_curve: [],
      failed_builds: [
        {
          worker: name,
          engine: 'lmr-history-v3',
          why: 'the build command failed (exit status: 2)',
          output:
            'src/search.c:412: error: expected expression before token\nmake: *** [Makefile:2: all] Error 1\n',
          at_ms: 1_764_000_400_000,
        },
      ],
      workers: [worker(name, { flags: [{ kind: 'time-losses', p: 0.001 }] })],
      invalid: 0,
      quarantine: [],
      warnings: [],
      end: null,
      has_verified_names: true,
      ignored: 0,
      skipped: 0,
      audits: { made: 3, open: 1, differing: 1, flagged: 1, not_made: 2, gap: 'no-other-owner' },
      updated_ms: 0,
    },
  };
  const plan: QueuePlan = {
    plan: {
      name: summary.name,
      variant: 'chess',
      engines: ['lmr-history-v3', 'main'].map((engine) => ({
        engine: { command: `/opt/engines/${engine}`, args: [] },
        name: engine,
        time: { kind: 'clock', base: 10_000, increment: 100, byoyomi: 0, moves: null },
        nodes: null,
        depth: null,
        ponder: false,
        options: { Hash: '16' },
      })),
      format: 'round_robin',
      rounds: 4_294_967_295,
      pairs: 1,
      openings: { kind: 'file', path: '/opt/books/UHO_4060_v3.epd', plies: null, shuffled: true },
      concurrency: 1,
      draw: { from_move: 34, moves: 8, score: 10 },
      resign: { moves: 3, score: 400 },
      max_moves: null,
      sprt: test,
      seed: 1,
    },
    priority: 3,
    openings: null,
    base: summary.id,
    max_workers: null,
    max_threads: null,
  };
  const ofCommit = (entrant: MatchEngine): MatchEngine => ({
    ...entrant,
    engine: {
      source: {
        repository: 'https://github.com/example/an-engine-with-a-long-name',
        revision: entrant.name,
        commit: '0123456789abcdef0123456789abcdef01234567',
        build: 'make EXE=engine',
        program: 'engine',
        bench: 4_242_424,
      },
    },
  });
  const overview: QueueOverview = {
    server: 'nats://10.0.0.1:4222',
    writable: true,
    user: { role: 'owner', name: null, waits: false, repositories: [] },
    proposals: [
      {
        id: 1,
        author: 'alice',
        created_ms: 1_764_000_000_000,
        test: { ...plan, plan: { ...plan.plan, engines: plan.plan.engines.map(ofCommit) } },
      },
    ],
    open: [summary],
    finished: [{ ...summary, id: 'fedcba9876543210', phase: 'finished', verdict: 'h1' }],
    workers: [
      {
        name,
        version: '0.1.0',
        system: 'Linux 6.1 x86_64',
        cores: 64,
        slots: 32,
        speed: 1.2,
        started_ms: 0,
        updated_ms: 0,
        activity: 'playing',
        playing: [{ match: summary.id, pair: 7, since_ms: 0 }],
        finished: 617,
        rejected: [],
      },
    ],
  };
  fake.http.set('queue', overview);
  fake.http.set(`queue/${summary.id}`, details);
  const tuning: TuneStatus = {
    parameters: ['LmrBase', 'FutilityMargin'].map((option, index) => ({
      name: option,
      start: 78,
      value: 92.4,
      average: index ? 70.2 : 91.3,
      rounded: index ? '70' : '91',
      rounded_start: '78',
      averaged: 2,
      decimal: false,
      low: 60,
      high: 120,
      min: 0,
      max: 200,
      c: 6.4,
    })),
    pairs: 3,
    curve: [1, 2, 3].map((pairs) => ({ pairs, values: [78, 78], averages: [78 + pairs, 78 - pairs] })),
    gain: { elo: 4.2, error: 6.1 },
  };
  const tune = { parameters: 2, alpha: 0.602, gamma: 0.101, stability: 0.1 };
  fake.http.set('queue/5eed', {
    ...details,
    id: '5eed',
    name: 'tune: pruning',
    conditions: { ...details.conditions, test: null, tune },
    status: {
      ...details.status,
      test: null,
      strength: null,
      standings: [],
      scores: [],
      curve: [],
      tune: tuning,
    },
  });
  fake.http.set(`queue/${summary.id}/plan`, plan);
  fake.http.set('queue/openings', { files: ['UHO_4060_v3.epd'] });
}

const option = (name: string, kind: EngineOption['kind']): EngineOption => ({
  name,
  kind,
  labels: {},
  help: {},
  set_by_server: false,
});

/** A server with something on every page. */
export function fullServer(language: string): FakeServer {
  const fake = defaultServer();
  storePrefs(fake, { language });
  const options = [
    option('Hash', { kind: 'spin', default: 16, min: 1, max: 33_554_432 }),
    option('Clear Hash', { kind: 'button' }),
    option('Use NNUE', { kind: 'check', default: true }),
    option('Analysis Contempt', {
      kind: 'combo',
      default: 'Both',
      choices: ['Off', 'White', 'Both'].map((value) => ({ value, labels: {} })),
    }),
    option('EvalFile', { kind: 'filename', default: 'nn-1111cefa1111.nnue' }),
    option('SyzygyPath', { kind: 'string', default: '<empty>', directories: true }),
  ];
  const engines = NAMES.map((name, index) => engine(index + 1, name, { options, values: { Hash: '64' } }));
  fake.topics.set('engines', {
    kind: 'engines',
    state: {
      engines,
      processes: (['console', 'inspect', 'inspect'] as const).map((kind, index) => ({
        id: 7 + index,
        engine: 2,
        purpose: { kind },
        status: kind === 'console' ? 'searching' : 'ended',
        pid: 123_456 + index,
        started: 0,
        identity: null,
        error: null,
        stderr: ['a line of the standard error output that is as long as those of engines can be'],
        breaches: index,
      })),
      machine: { cores: 4, memory: 8000, system: 'linux', distributions: [] },
      search: null,
    },
  });
  fake.http.set('files', {
    path: '/home/ada/engines',
    parent: '/home/ada',
    entries: ['a', 'b', 'c'].map((name) => ({
      name: `${name}-quite-long-name-of-an-engine-for-linux-x86-64-avx2.tar.gz`,
      path: `/home/ada/engines/${name}`,
      directory: name === 'a',
      program: true,
      size: 1_234_567,
    })),
    truncated: true,
  });
  const names = { first: 'Kasparov, Garry Kimovich', second: 'Topalov, Veselin Aleksandrov' };
  const games = [1, 2, 3, 4, 5, 6].map((id) => ({
    id,
    variant: id % 2 ? 'chess' : 'shogi',
    names,
    ratings: { first: 2812, second: 2700 },
    result: '1-0',
    termination: 'resignation',
    date: '1999-01-20',
    event: 'Hoogovens Tournament, Wijk aan Zee',
    opening: 'B07 Pirc Defense: Classical Variation, Quiet System, Czech Defense',
    plies: 87,
    added: 0,
    changed: 1_764_000_000_000,
    source: 'import',
    labels: ['study'],
    evaluated: true,
    commented: true,
  }));
  fake.http.set('library/search', {
    games,
    total: 1_234_567,
    labels: [{ label: 'study', games: 6 }],
    undecided: 0,
  });
  const collection = {
    id: 1,
    name: 'Chapters on endings of rooks and pawns with long names',
    chapters: games.length,
    added: 0,
    changed: 0,
  };
  fake.topics.set('games', {
    kind: 'games',
    state: {
      games: [1, 2, 3, 4].map((id) => gameLine(id, { names, event: 'Hoogovens', date: '1999-01-20' })),
    },
  });
  fake.http.set('library/collections', { collections: [collection] });
  fake.http.set('library/chapters', {
    collection,
    chapters: games.map((game) => ({ id: game.id, name: 'A position of Philidor, with comments', game })),
  });
  const state = matchState();
  const { id, status, played, total, plan } = state;
  const summary = { bounds: null, elo: null, verdict: null, engines: NAMES.length };
  const row = { id, name: plan.name, variant: plan.variant, status, played, total, ...summary };
  fake.topics.set('matches', { kind: 'matches', state: { matches: [row] } });
  fake.topics.set('match/3', { kind: 'match', state });
  queue(fake);

  // A game with a variation, comments, clocks and an analysis.
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1, 3] }),
    node(
      1,
      0,
      1,
      'e2e4',
      { western: 'e4' },
      {
        children: [2],
        comments: ['A comment of some length, as annotators write them in books.'],
        nags: [1],
        clock: 1_000,
        elapsed: 4_000,
        evaluation: { score: { kind: 'cp', value: 20 }, depth: 20 },
      },
    ),
    node(
      2,
      1,
      2,
      'e7e5',
      { western: 'e5' },
      {
        clock: 900_000,
        elapsed: 8_000,
        evaluation: { score: { kind: 'cp', value: 30 }, depth: 20 },
      },
    ),
    node(3, 0, 1, 'd2d4', { western: 'd4' }),
  ];
  open(fake, game(1, 'chess', { nodes, cursor: 1 }), [
    analysis(
      1,
      [1, 2, 3].map((number) => line(number, 25, [['d2d4', 'd4']])),
      { engine: 2 },
    ),
  ]);
  open(fake, game(2, 'chess', { play: playing() }));
  open(fake, game(3, 'shogi', { play: playing(), handicap: true }));
  const promotions = ['q', 'r', 'b', 'n'].map((letter) =>
    legal(`b7b8${letter}`, `b8=${letter.toUpperCase()}`),
  );
  open(fake, game(4, 'chess', { position: positionView('4k3/1P6/8/8/8/8/8/4K3 w - - 0 1', promotions) }));
  const sides = { accuracy: 87.5, average_loss: 31, inaccuracies: 2, mistakes: 1, blunders: 1 };
  fake.topics.set('report/1', {
    kind: 'report',
    state: {
      settings: null,
      status: 'done',
      done: 3,
      total: 3,
      positions: [0, 1, 2].map((ply) => ({
        ply,
        node: ply,
        score: { kind: 'cp', value: 0 },
        winning: 50,
        best: [{ uci: 'd2d4', text: { western: 'd4' } }],
        depth: 9,
        loss: ply === 1 ? 15 : null,
        label: ply === 1 ? 'mistake' : null,
      })),
      sides: { first: sides, second: sides },
      error: null,
    },
  });
  fake.http.set('login', { password: true });
  return fake;
}
