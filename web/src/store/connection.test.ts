import { beforeEach, expect, test } from 'vitest';
import type { Command, GameState, GamesState, ApiError, ToTab } from '../api/wire';
import type { Game, Model } from './apply';
import { Connection, RequestError } from './connection';

class Line {
  sent: { id: number; command: Command }[] = [];
  acts: Record<string, ((event: { data: unknown }) => void)[]> = {};

  addEventListener(kind: string, act: (event: { data: unknown }) => void) {
    (this.acts[kind] ??= []).push(act);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  happens(kind: string, data: unknown = undefined) {
    for (const act of this.acts[kind] ?? []) act({ data });
  }
  receives(message: ToTab) {
    this.happens('message', JSON.stringify(message));
  }
  kinds() {
    return this.sent.map(({ command }) => `${command.kind}${'topic' in command ? ` ${command.topic}` : ''}`);
  }
}

let lines: Line[];
let later: { pause: number; act: () => void }[];
let outdated: number;
let handshake: unknown;
let status: boolean[];
let connection: Connection;

const line = () => lines.at(-1) as Line;

beforeEach(() => {
  lines = [];
  later = [];
  outdated = 0;
  status = [];
  connection = new Connection(
    {
      open: () => {
        lines.push(new Line());
        return line();
      },
      later: (pause, act) => later.push({ pause, act }),
      outdated: () => (outdated += 1),
      handshake: (...all) => (handshake = all),
    },
    (open) => status.push(open),
  );
});

const games = (...ids: number[]): GamesState => ({
  games: ids.map((id) => ({
    id,
    variant: 'chess',
    names: { first: '', second: '' },
    event: '',
    round: '',
    date: null,
    plies: 0,
    playing: false,
    result: '*',
    changed: 0,
    draft: false,
    unsaved: false,
  })),
});

function ids(model: Model | undefined): number[] | undefined {
  return model?.kind === 'games' ? model.state.games.map((game) => game.id) : undefined;
}

test('applies deltas to the snapshot of a topic', () => {
  const received: (number[] | undefined)[] = [];
  connection.watch('games', (model) => received.push(ids(model)));
  line().happens('open');
  expect(line().kinds()).toEqual(['subscribe games']);
  line().receives({ kind: 'snapshot', topic: 'games', number: 7, state: { kind: 'games', state: games(1) } });
  line().receives({
    kind: 'delta',
    topic: 'games',
    number: 8,
    delta: { kind: 'games', delta: { changed: games(2).games, removed: [] } },
  });
  line().receives({
    kind: 'delta',
    topic: 'games',
    number: 9,
    delta: { kind: 'games', delta: { changed: [], removed: [1] } },
  });
  expect(received).toEqual([undefined, [1], [2, 1], [2]]);
});

test('requests a new snapshot after a gap in the numbers', () => {
  let last: number[] | undefined;
  connection.watch('games', (model) => (last = ids(model)));
  line().happens('open');
  line().receives({ kind: 'snapshot', topic: 'games', number: 1, state: { kind: 'games', state: games(1) } });
  line().receives({
    kind: 'delta',
    topic: 'games',
    number: 3,
    delta: { kind: 'games', delta: { changed: games(9).games, removed: [] } },
  });
  expect(last).toEqual([1]);
  expect(line().kinds()).toEqual(['subscribe games', 'subscribe games']);
  line().receives({
    kind: 'snapshot',
    topic: 'games',
    number: 5,
    state: { kind: 'games', state: games(1, 9) },
  });
  expect(last).toEqual([1, 9]);
});

test('matches responses and errors to requests', async () => {
  line().happens('open');
  const one = connection.request({ kind: 'stop_report', game: null });
  const two = connection.request({ kind: 'stop_report', game: 4 });
  const [first, second] = line().sent;
  const error: ApiError = {
    category: 'not_found',
    error: { code: 'unknown_name', subject: 'game', name: '4' },
  };
  line().receives({ kind: 'error', id: second?.id ?? 0, error });
  line().receives({ kind: 'answer', id: first?.id ?? 0, answer: { kind: 'done' } });
  await expect(one).resolves.toEqual({ kind: 'done' });
  await expect(two).rejects.toThrow('unknown_name');
});

test('rejects open requests when the connection is lost', async () => {
  line().happens('open');
  const open = connection.request({ kind: 'stop_report', game: null });
  line().happens('close');
  await expect(open).rejects.toBeInstanceOf(RequestError);
  await expect(connection.request({ kind: 'stop_report', game: null })).rejects.toBeInstanceOf(RequestError);
  expect(status).toEqual([true, false]);
});

test('reconnects with increasing pauses and subscribes again', () => {
  connection.watch('games', () => {});
  line().happens('open');
  line().happens('close');
  later[0]?.act();
  line().happens('close');
  later[1]?.act();
  line().happens('open');
  expect(lines).toHaveLength(3);
  expect(line().kinds()).toEqual(['subscribe games']);
  expect((later[1]?.pause ?? 0) > (later[0]?.pause ?? 0)).toBe(true);
});

test('retries immediately on request, without a second connection', () => {
  line().happens('open');
  connection.retry();
  expect(lines).toHaveLength(1);
  line().happens('close');
  line().happens('close');
  connection.retry();
  expect(lines).toHaveLength(2);
  // The timers fire afterwards.
  for (const { act } of later) act();
  expect(lines).toHaveLength(2);
});

test('unsubscribes with the last listener', () => {
  line().happens('open');
  const one = connection.watch('engines', () => {});
  const two = connection.watch('engines', () => {});
  one();
  expect(line().kinds()).toEqual(['subscribe engines']);
  two();
  expect(line().kinds()).toEqual(['subscribe engines', 'unsubscribe engines']);
});

test('reports a closed topic', () => {
  let gone = false;
  connection.watch('game/3', (_, closed) => (gone = closed));
  line().happens('open');
  line().receives({ kind: 'closed', topic: 'game/3' });
  expect(gone).toBe(true);
});

test('reports the version of the server and damaged files', () => {
  line().happens('open');
  const files = [{ path: '/data/app.sqlite', moved_to: '/data/damaged/1/app.sqlite', game: null }];
  line().receives({ kind: 'handshake', version: '1', run: 'a', damaged: files });
  expect(handshake).toEqual(['1', files]);
});

test('reports a server of another version', () => {
  line().happens('open');
  line().receives({ kind: 'handshake', version: '1', run: 'a', damaged: [] });
  line().receives({ kind: 'handshake', version: '1', run: 'b', damaged: [] });
  expect(outdated).toBe(0);
  line().receives({ kind: 'handshake', version: '2', run: 'c', damaged: [] });
  expect(outdated).toBe(1);
});

const position = {
  text: '',
  turn: 'first',
  legal: [],
  check: null,
  last: null,
  ending: null,
} as const;

function node(id: number, parent: number | null, children: number[]): GameState['nodes'][number] {
  return {
    id,
    parent,
    kind: parent === null ? 'root' : 'legal',
    ply: parent === null ? 0 : id,
    uci: '',
    text: { western: '' },
    children,
    before: [],
    comments: [],
    nags: [],
    engine: null,
    clock: null,
    elapsed: null,
    evaluation: null,
    marks: [],
  };
}

test('removes the subtree of a removed node', () => {
  let game: Game | undefined;
  connection.watch('game/1', (model) => (game = model?.kind === 'game' ? model.state : undefined));
  line().happens('open');
  const state: GameState = {
    id: 1,
    variant: 'chess',
    start: '',
    handicap: false,
    first_number: 1,
    first_turn: 'first',
    headers: [],
    ratings: { first: null, second: null },
    nodes: [node(0, null, [1]), node(1, 0, [2]), node(2, 1, [])],
    cursor: 2,
    position: { ...position, legal: [] },
    opening: null,
    outcome: null,
    play: null,
    undo: { undo: false, redo: false },
    save_error: null,
  };
  line().receives({ kind: 'snapshot', topic: 'game/1', number: 1, state: { kind: 'game', state } });
  const before = game;
  line().receives({
    kind: 'delta',
    topic: 'game/1',
    number: 2,
    delta: {
      kind: 'game',
      delta: {
        nodes: [node(0, null, [])],
        removed: [1],
        at: { cursor: 0, position: { ...position, legal: [] }, opening: null },
      },
    },
  });
  expect([...(game?.nodes.keys() ?? [])]).toEqual([0]);
  expect(game?.cursor).toBe(0);
  // The previous state is unchanged.
  expect(before?.nodes.size).toBe(3);
});
