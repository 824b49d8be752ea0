// The form of a match: its fields, the plan that they make, and their differences from the plan of another match.
import type {
  EngineState,
  GitSource,
  MatchEngine,
  MatchFormat,
  MatchOpenings,
  MatchPlan,
  MatchProgram,
  Time,
  Variant,
} from '../../api/wire';
import type { EngineId } from '../../store/ids';
import { clock, timeOf, type TimeForm } from '../play/newgame';
import { optionLines, readOptions } from './texts';

export type OpeningsKind = 'built_in' | 'start' | 'handicap' | 'positions' | 'file' | 'uploaded';

export interface Entrant {
  /** A registered engine, a program, or a commit of a Git repository. */
  engine: EngineId | 'program' | 'git';
  source: GitSource;
  command: string;
  /** Arguments, separated by spaces; in quotes if they contain any. */
  args: string;
  name: string;
  /** The name of a preset, or empty. */
  preset: string;
  ponder: boolean;
  /** One `Name=value` per line. */
  options: string;
  time: TimeForm;
}

export interface Form {
  target: 'local' | 'farm';
  name: string;
  variant: Variant;
  players: Entrant[];
  /** Whether each engine has its own time control. */
  each: boolean;
  format: MatchFormat;
  rounds: number;
  /** Whether only the test ends the match. */
  unlimited: boolean;
  pairs: number;
  concurrency: number;
  priority: number;
  /** Of a farm; 0 is no limit. */
  maxWorkers: number;
  maxThreads: number;
  time: TimeForm;
  openings: OpeningsKind;
  handicap: string;
  positions: string;
  path: string;
  /** The name of an uploaded file. */
  uploaded: string;
  plies: number;
  shuffled: boolean;
  draws: boolean;
  draw: { from_move: number; moves: number; score: number };
  resigns: boolean;
  resign: { moves: number; score: number };
  maxMoves: number | null;
  sprt: boolean;
  elo0: number;
  elo1: number;
  alpha: number;
  beta: number;
  model: string;
}

/** The number of rounds of a match that lasts until its test ends. */
export const UNLIMITED = 4_294_967_295;

/** The models of the bounds; the first one is the default of the server. */
export const MODELS = ['normalized', 'logistic', 'bayesian', 'bayeselo', 'unscaled-bayeselo'] as const;

/** Bounds of usual tests: for gains at two strengths, and for simplifications. */
export const BOUNDS = [
  [0, 10],
  [0, 5],
  [0, 2],
  [0.5, 2.5],
  [-5, 0],
  [-1.75, 0.25],
] as const;

export const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

export const newForm = (target: Form['target']): Form => ({
  target,
  name: '',
  variant: 'chess',
  players: [],
  each: false,
  format: 'round_robin',
  rounds: 1,
  unlimited: false,
  pairs: 5,
  concurrency: 1,
  priority: 0,
  maxWorkers: 0,
  maxThreads: 0,
  time: { ...clock(0.1, 0.1) },
  openings: 'built_in',
  handicap: 'lance',
  positions: '',
  path: '',
  uploaded: '',
  plies: 16,
  shuffled: true,
  draws: true,
  draw: { from_move: 40, moves: 8, score: 10 },
  resigns: true,
  resign: { moves: 4, score: 700 },
  maxMoves: null,
  sprt: false,
  elo0: 0,
  elo1: 10,
  alpha: 0.05,
  beta: 0.05,
  model: MODELS[0],
});

export const newSource = (): GitSource => ({
  repository: '',
  revision: '',
  commit: '',
  directory: '',
  build: 'make EXE=engine',
  program: 'engine',
  bench: null,
});

export const newEntrant = (engine: Entrant['engine'], time: TimeForm): Entrant => ({
  engine,
  source: newSource(),
  command: '',
  args: '',
  name: '',
  preset: '',
  ponder: false,
  options: '',
  time: { ...time },
});

/** The fields of a time control. */
export function timeForm(time: Time, nodes: number | null, depth: number | null): TimeForm {
  const form = { ...clock(0.1, 0.1), nodes: nodes ?? 0, depth: depth ?? 0 };
  switch (time.kind) {
    case 'none':
      return { ...form, kind: 'none' };
    case 'per_move':
      return { ...form, kind: 'per_move', each: time.time / 1000 };
    case 'clock':
      return {
        ...form,
        kind: 'clock',
        base: time.base / 60_000,
        increment: time.increment / 1000,
        byoyomi: time.byoyomi / 1000,
        moves: time.moves ?? 0,
      };
  }
}

/** Arguments as text: those with spaces or quotes are in quotes. */
const argumentText = (list: string[]) =>
  list.map((one) => (/^[^\s"\\]+$/.test(one) ? one : JSON.stringify(one))).join(' ');

/** The arguments of a text. */
function argumentsOf(text: string): string[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"|\S+/g)].map(([one]) => {
    if (!one.startsWith('"')) return one;
    try {
      return String(JSON.parse(one));
    } catch {
      // An unclosed quote is a part of the argument.
      return one;
    }
  });
}

function programOf({ engine, command, args, source }: Entrant): MatchProgram {
  if (engine === 'program') return { command: command.trim(), args: argumentsOf(args) };
  return engine === 'git' ? { source: { ...source, bench: source.bench || null } } : engine;
}

/** The file of a path, for the name of an engine. */
const stem = (path: string) => (path.split(/[\\/]/).at(-1) ?? '').replace(/\.exe$/i, '');

/** Unique names of the engines. */
export function namesOf(form: Form, engines: EngineState[]): string[] {
  const seen = new Map<string, number>();
  return form.players.map((entrant) => {
    const registered = engines.find((engine) => engine.id === entrant.engine)?.name ?? '';
    const own =
      entrant.name.trim() ||
      (entrant.engine === 'git'
        ? (entrant.source.revision ?? '')
        : `${entrant.engine === 'program' ? stem(entrant.command) : registered} ${entrant.preset}`
      ).trim();
    const count = (seen.get(own) ?? 0) + 1;
    seen.set(own, count);
    return count === 1 ? own : `${own} ${count}`;
  });
}

function openingsOf(form: Form): MatchOpenings {
  const { variant, openings, path, plies, shuffled } = form;
  switch (openings) {
    case 'built_in':
      return { kind: variant === 'chess960' ? 'chess960' : 'built_in' };
    case 'positions':
      return {
        kind: 'positions',
        list: form.positions
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean),
      };
    case 'file':
      return { kind: 'file', path: path.trim(), plies: plies || null, shuffled };
    case 'uploaded':
      // The server knows its path.
      return { kind: 'file', path: form.uploaded, plies: plies || null, shuffled };
    case 'handicap':
      return variant === 'shogi' ? { kind: 'handicap', name: form.handicap } : { kind: 'start' };
    case 'start':
      return { kind: 'start' };
  }
}

/** Whether a test ends the match: of two engines, or of several takes, which require it. */
export const isTested = ({ sprt, format, players }: Form): boolean =>
  format === 'takes' || (sprt && players.length === 2);

/** The plan of a form. */
export function planOf(form: Form, engines: EngineState[], seed: number): MatchPlan {
  const names = namesOf(form, engines);
  const player = (entrant: Entrant, index: number): MatchEngine => {
    const time = form.each ? entrant.time : form.time;
    return {
      engine: programOf(entrant),
      name: names[index] ?? '',
      time: timeOf(time),
      nodes: time.nodes || null,
      depth: time.depth || null,
      ponder: entrant.ponder,
      options: readOptions(entrant.options),
    };
  };
  const tested = isTested(form);
  return {
    name: form.name.trim() || names.join(' – '),
    variant: form.variant,
    engines: form.players.map(player),
    format: form.format,
    rounds: form.unlimited && tested ? UNLIMITED : form.rounds,
    pairs: form.pairs,
    openings: openingsOf(form),
    concurrency: form.concurrency,
    draw: form.draws ? { ...form.draw } : null,
    resign: form.resigns ? { ...form.resign } : null,
    max_moves: form.maxMoves || null,
    sprt: tested
      ? { elo0: form.elo0, elo1: form.elo1, alpha: form.alpha, beta: form.beta, model: form.model }
      : null,
    seed,
  };
}

/** The program of an entrant. */
function entrantOf(program: MatchProgram): Pick<Entrant, 'engine' | 'command' | 'args' | 'source'> {
  const blank = { command: '', args: '', source: newSource() };
  if (typeof program === 'number') return { ...blank, engine: program };
  if ('source' in program) return { ...blank, engine: 'git', source: { ...program.source } };
  return { ...blank, engine: 'program', command: program.command, args: argumentText(program.args) };
}

/** The form of a plan. */
export function formOf(plan: MatchPlan, target: Form['target'], priority = 0): Form {
  const blank = newForm(target);
  const times = plan.engines.map(({ time, nodes, depth }) => timeForm(time, nodes, depth));
  const [first = blank.time] = times;
  const { openings, draw, resign, sprt } = plan;
  const file = openings.kind === 'file' ? openings : null;
  return {
    ...blank,
    name: plan.name,
    variant: plan.variant,
    players: plan.engines.map(({ engine, name, ponder, options }, index) => ({
      ...entrantOf(engine),
      name,
      preset: '',
      ponder,
      options: optionLines(options as Record<string, string>),
      time: times[index] ?? first,
    })),
    each: new Set(times.map((time) => JSON.stringify(time))).size > 1,
    format: plan.format,
    rounds: plan.rounds === UNLIMITED ? 1 : plan.rounds,
    unlimited: plan.rounds === UNLIMITED,
    pairs: plan.pairs,
    concurrency: plan.concurrency,
    priority,
    maxWorkers: 0,
    maxThreads: 0,
    time: { ...first },
    openings: openings.kind === 'chess960' ? 'built_in' : openings.kind,
    handicap: openings.kind === 'handicap' ? openings.name : blank.handicap,
    positions: openings.kind === 'positions' ? openings.list.join('\n') : '',
    path: file?.path ?? '',
    plies: file?.plies ?? (file ? 0 : blank.plies),
    shuffled: file?.shuffled ?? true,
    draws: draw !== null,
    draw: draw ? { ...draw } : blank.draw,
    resigns: resign !== null,
    resign: resign ? { ...resign } : blank.resign,
    maxMoves: plan.max_moves,
    sprt: sprt !== null,
    elo0: sprt?.elo0 ?? blank.elo0,
    elo1: sprt?.elo1 ?? blank.elo1,
    alpha: sprt?.alpha ?? blank.alpha,
    beta: sprt?.beta ?? blank.beta,
    model: sprt?.model ?? blank.model,
  };
}

/** The fields of a form, as their labels name them. */
export type Field =
  | 'name'
  | 'format'
  | 'engines'
  | 'time'
  | 'rounds'
  | 'pairs'
  | 'openings'
  | 'adjudication'
  | 'sprt'
  | 'priority'
  | 'concurrency';

/** The fields in which two forms differ. */
export function changedFields(before: Form, now: Form): Field[] {
  const differs = (of: (form: Form) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(now));
  const times = ({ each, time, players }: Form) => (each ? players.map((player) => player.time) : time);
  const parts: [Field, (form: Form) => unknown][] = [
    ['name', ({ name }) => name],
    ['format', ({ variant, format }) => [variant, format]],
    ['engines', ({ players }) => players.map((player) => ({ ...player, time: null, preset: null }))],
    ['time', times],
    ['rounds', ({ rounds, unlimited }) => [unlimited, unlimited || rounds]],
    ['pairs', ({ pairs }) => pairs],
    ['openings', (form) => [form.openings, openingsOf(form)]],
    [
      'adjudication',
      ({ draws, draw, resigns, resign, maxMoves }) => [draws && draw, resigns && resign, maxMoves],
    ],
    ['sprt', ({ sprt, elo0, elo1, alpha, beta, model }) => sprt && [elo0, elo1, alpha, beta, model]],
    ['priority', ({ priority }) => priority],
    ['concurrency', ({ concurrency }) => concurrency],
  ];
  return parts.filter(([, of]) => differs(of)).map(([field]) => field);
}
