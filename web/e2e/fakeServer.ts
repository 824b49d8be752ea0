// A fake server with canned states.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import type * as wire from '../src/api/wire';
import { locale } from './labels';
import { TIMEOUT } from './timeout';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
export const POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const ADDRESS = 'http://readyok.test/';

function missing(name: string): wire.ApiError {
  return { category: 'not_found', error: { code: 'unknown_name', subject: 'topic', name } };
}

export class FakeServer {
  /** The received commands, except subscriptions. */
  readonly commands: wire.Command[] = [];
  readonly topics = new Map<string, wire.TopicState>();
  readonly http = new Map<string, unknown>();
  /** The date that pages see; by default that of the machine. */
  now: Date | undefined;
  answer: (command: wire.Command) => wire.Answer | wire.ApiError = () => ({ kind: 'done' });
  #sockets: WebSocketRoute[] = [];
  #numbers = new Map<string, number>();

  async page(
    browser: Browser,
    hash: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1366, height: 860 },
      locale: locale(),
      ...options,
    });
    context.setDefaultTimeout(TIMEOUT);
    const page = await context.newPage();
    if (this.now) await page.clock.setFixedTime(this.now);
    await page.route('**/*', async (route) => {
      const path = new URL(route.request().url()).pathname;
      if (path.startsWith('/api/')) {
        const found = this.http.get(path.slice(5));
        if (typeof found === 'string') await route.fulfill({ body: found, contentType: 'text/plain' });
        else
          await route.fulfill(found === undefined ? { status: 404, json: missing(path) } : { json: found });
        return;
      }
      const file = path === '/' ? '/index.html' : path;
      try {
        const content = readFileSync(join('../crates/server/dist', file));
        await route.fulfill({
          body: path === '/' ? this.#index(content.toString()) : content,
          contentType: TYPES[extname(file)] ?? 'application/octet-stream',
          headers: { 'content-security-policy': `${POLICY}; connect-src 'self' ws://readyok.test` },
        });
      } catch {
        await route.fulfill({ status: 404 });
      }
    });
    await page.routeWebSocket(/\/api\/ws$/, (socket) => {
      this.#sockets.push(socket);
      this.#send(socket, { kind: 'handshake', version: 'test', run: '1', damaged: [] });
      socket.onMessage((data) => this.#receive(socket, JSON.parse(String(data)) as wire.Request));
    });
    await page.goto(`${ADDRESS}${hash}`);
    return page;
  }

  /** The page with the stored language and theme, like that of the server. */
  #index(html: string) {
    const settings = this.topics.get('settings');
    const stored = settings?.kind === 'settings' ? settings.state.page : {};
    const [language, theme] = [stored['language'], stored['theme']];
    const root =
      (language ? ` lang="${language}" data-language="${language}"` : ' lang="en"') +
      (theme && theme !== 'auto' ? ` data-theme="${theme}"` : '');
    return html.replace('<html lang="en">', `<html${root}>`);
  }

  /** Sends a delta to all tabs. */
  delta(topic: wire.Topic, delta: wire.Delta) {
    const number = (this.#numbers.get(topic) ?? 1) + 1;
    this.#numbers.set(topic, number);
    for (const socket of this.#sockets) this.#send(socket, { kind: 'delta', topic, number, delta });
  }

  /** Closes all connections. */
  drop() {
    for (const socket of this.#sockets) void socket.close();
    this.#sockets = [];
  }

  #receive(socket: WebSocketRoute, { id, command }: wire.Request) {
    if (command.kind === 'subscribe') {
      const state = this.topics.get(command.topic);
      if (!state) {
        this.#send(socket, { kind: 'error', id, error: missing(command.topic) });
        return;
      }
      this.#send(socket, { kind: 'answer', id, answer: { kind: 'done' } });
      const number = this.#numbers.get(command.topic) ?? 1;
      this.#numbers.set(command.topic, number);
      this.#send(socket, { kind: 'snapshot', topic: command.topic, number, state });
      return;
    }
    if (command.kind !== 'unsubscribe') this.commands.push(command);
    const answer = this.answer(command);
    if ('category' in answer) this.#send(socket, { kind: 'error', id, error: answer });
    else this.#send(socket, { kind: 'answer', id, answer });
  }

  #send(socket: WebSocketRoute, message: wire.ToTab) {
    socket.send(JSON.stringify(message));
  }
}

export const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
export const SHOGI = 'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1';
/** A mate in two moves. */
export const LADDER = '7k/8/8/8/8/8/R7/1R5K w - - 0 1';
/** A tsume of one ply. */
export const TSUME = '4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1';

export function legal(uci: string, western: string, japanese?: string): wire.LegalMove {
  const drop = uci[1] === '*';
  const promotion = uci.length > 4 ? uci.slice(4) : null;
  return {
    uci,
    from: drop ? null : uci.slice(0, 2),
    drop: drop ? (uci[0] ?? null) : null,
    to: [uci.slice(2, 4)],
    promotion,
    text: japanese === undefined ? { western } : { western, japanese },
  };
}

export function positionView(
  text: string,
  moves: wire.LegalMove[],
  more: Partial<wire.PositionView> = {},
): wire.PositionView {
  return {
    text,
    turn: 'first',
    legal: moves,
    check: null,
    last: null,
    ending: null,
    ...more,
  };
}

export function node(
  id: number,
  parent: number | null,
  ply: number,
  uci: string,
  text: wire.MoveText,
  more: Partial<wire.Node> = {},
): wire.Node {
  return {
    id,
    parent,
    kind: parent === null ? 'root' : 'legal',
    ply,
    uci,
    text,
    children: [],
    before: [],
    comments: [],
    nags: [],
    engine: null,
    clock: null,
    elapsed: null,
    evaluation: null,
    marks: [],
    ...more,
  };
}

export function game(id: number, variant: wire.Variant, more: Partial<wire.GameState> = {}): wire.GameState {
  const start = variant === 'shogi' ? SHOGI : START;
  return {
    id,
    variant,
    start,
    handicap: false,
    first_number: 1,
    first_turn: 'first',
    headers: [],
    ratings: { first: null, second: null },
    nodes: [node(0, null, 0, '', { western: '' })],
    cursor: 0,
    opening: null,
    position: positionView(
      start,
      variant === 'shogi'
        ? [legal('7g7f', 'P-7f', '▲７六歩'), legal('2g2f', 'P-2f', '▲２六歩')]
        : [legal('e2e4', 'e4'), legal('d2d4', 'd4'), legal('g1f3', 'Nf3')],
    ),
    outcome: null,
    play: null,
    undo: { undo: false, redo: false },
    save_error: null,
    ...more,
  };
}

/** An entry of the list of open games. */
export const gameLine = (id: number, more: Partial<wire.GameLine> = {}): wire.GameLine => ({
  id,
  variant: 'chess',
  names: { first: '', second: '' },
  event: '',
  round: '',
  date: null,
  plies: 0,
  playing: false,
  draft: false,
  unsaved: false,
  result: '*',
  changed: 0,
  ...more,
});

export function engine(id: number, name: string, more: Partial<wire.EngineState> = {}): wire.EngineState {
  return {
    id,
    name,
    source:
      id === 1
        ? { kind: 'built_in' }
        : { kind: 'program', path: `/usr/games/${name.toLowerCase()}`, args: [], dir: null, env: {} },
    protocol: 'uci',
    built_in: id === 1,
    identity: { name: `${name} 1.0`, author: 'its authors' },
    variants: ['chess', 'chess960', 'shogi'],
    options: [],
    recommended: {},
    values: {},
    play_values: {},
    analyse_values: {},
    presets: [],
    strength: { kind: 'elo', min: 800, max: 2800 },
    strength_in_shogi: null,
    error: null,
    registration: null,
    copy_protection: null,
    registered_as: null,
    check: null,
    ...more,
  };
}

/** Log lines of each source, some with violations. */
function logLines(): wire.LogLine[] {
  const clause = 'uci: bestmove';
  const breach = {
    english: { text: 'unsolicited bestmove', clause },
    japanese: { text: '求められていないbestmove', clause },
    span: null,
  };
  const lines: [wire.Speaker, string, wire.Breach[]][] = [
    ['client', 'uci', []],
    ['engine', 'uciok', []],
    ['user', 'isready', []],
    ['stderr', 'out of thoughts', []],
    ['engine', 'bestmove e7e5', [{ ...breach, serious: true }]],
    ['engine', 'info depth x', [{ ...breach, serious: false, span: [11, 12] }]],
  ];
  return lines.map(([by, text, breaches], at) => ({ number: at + 1, at: 0, by, text, breaches }));
}

/** Sets preferences stored by the server, such as the theme. */
export function storePrefs(fake: FakeServer, page: wire.Settings['page']) {
  fake.topics.set('settings', {
    kind: 'settings',
    state: {
      page,
      on_close: { pause_games: true, stop_analysis: true, quit: false },
      references: { syzygy: [], books: [] },
      online: { services: [], lichess_token: false, accounts: [] },
      training: { names: [], new_per_day: 20 },
      current_game: null,
    },
  });
}

/** A server with all topics that a page subscribes to. */
export function defaultServer(): FakeServer {
  const fake = new FakeServer();
  storePrefs(fake, {});
  fake.topics.set('engines', {
    kind: 'engines',
    state: {
      engines: [engine(1, 'Narikin'), engine(2, 'Stockfish')],
      processes: [
        {
          id: 7,
          engine: 2,
          purpose: { kind: 'console' },
          status: 'idle',
          pid: 4711,
          started: 0,
          identity: null,
          error: null,
          stderr: [],
          breaches: 2,
        },
      ],
      machine: { cores: 4, memory: 8000, system: 'linux', distributions: ['debian'] },
      search: null,
    },
  });
  fake.topics.set('log/7', { kind: 'log', state: { process: 7, lines: logLines(), total: 6 } });
  fake.topics.set('matches', { kind: 'matches', state: { matches: [] } });
  fake.topics.set('games', { kind: 'games', state: { games: [] } });
  fake.http.set('choices', {
    handicaps: [{ name: 'lance', japanese: '香落ち', sfen: SHOGI }],
  });
  fake.http.set('library/search', { games: [], total: 0, labels: [], undecided: 0 });
  fake.http.set('library/progress', null);
  fake.http.set('library/collections', { collections: [] });
  fake.http.set('library/order', null);
  fake.http.set('training', trainingView());
  fake.http.set('queue', null);
  fake.http.set('files', { path: null, parent: null, entries: [], truncated: false });
  fake.http.set('position', {
    position: null,
    text: null,
    error: { code: 'opponent_in_check', square: 'e8', context: { variant: 'chess' } },
    squares: [],
  });
  return fake;
}

export function open(fake: FakeServer, state: wire.GameState, panels: wire.EngineAnalysis[] = []) {
  fake.topics.set(`game/${state.id}`, { kind: 'game', state });
  fake.topics.set(`analysis/${state.id}`, { kind: 'analysis', state: { engines: panels } });
  fake.topics.set(`report/${state.id}`, {
    kind: 'report',
    state: {
      settings: null,
      status: 'none',
      done: 0,
      total: 0,
      positions: [],
      sides: {
        first: { accuracy: null, average_loss: null, inaccuracies: 0, mistakes: 0, blunders: 0 },
        second: { accuracy: null, average_loss: null, inaccuracies: 0, mistakes: 0, blunders: 0 },
      },
      error: null,
    },
  });
}

export function analysis(
  at: number,
  lines: wire.Line[],
  more: Partial<wire.EngineAnalysis> = {},
): wire.EngineAnalysis {
  return {
    engine: 1,
    settings: { lines: 3, goal: { kind: 'infinite' }, only: [], threat: false, locked: false },
    status: 'searching',
    process: 1,
    node: at,
    info: {
      lines,
      depth: 24,
      seldepth: 33,
      nodes: 12_345_678,
      nps: 1_234_567,
      hashfull: 345,
      tbhits: 0,
      cpuload: null,
      time: 10_000,
      current: null,
      refutations: [],
      current_lines: [],
      text: null,
      mate: null,
      best: null,
    },
    error: null,
    ...more,
  };
}

export function line(number: number, value: number, moves: [string, string, string?][]): wire.Line {
  return {
    number,
    depth: 24,
    seldepth: 33,
    score: { kind: 'cp', value },
    bound: 'exact',
    wdl: { win: 420, draw: 380, loss: 200 },
    pv: moves.map(([uci, western, japanese]) => ({
      uci,
      text: japanese ? { western, japanese } : { western },
    })),
  };
}

/** The answer of a server without exercises, with changes. */
export function trainingView(change: Partial<wire.TrainingView> = {}): wire.TrainingView {
  return {
    sets: [trainingSet()],
    stats: { new: 0, learning: 0, learned: 0, due: 0, today: 0, reviews: 0, solved: 0 },
    queue: [],
    days: Array.from({ length: 15 }, () => 0),
    chapters: [],
    themes: [],
    ratings: null,
    exercises: [],
    total: 0,
    ...change,
  };
}

/** The set of own mistakes, with changes. */
export function trainingSet(change: Partial<wire.TrainingSet> = {}): wire.TrainingSet {
  return {
    id: 0,
    kind: 'mistakes',
    name: '',
    variant: null,
    side: null,
    marks: [],
    linked: false,
    added: 0,
    total: 0,
    learning: 0,
    learned: 0,
    due: 0,
    ...change,
  };
}
