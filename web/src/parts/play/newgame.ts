// The form of a new game and its conversion to a request.
import type {
  EngineState,
  NewGame,
  Player,
  PlayRules,
  Side,
  Sides,
  Start,
  StrengthRange,
  Time,
  Variant,
} from '../../api/wire';
import { fitting as fittingValues } from '../engine/options';

export interface TimeForm {
  kind: 'none' | 'clock' | 'per_move';
  /** Minutes; increment and byoyomi are seconds. */
  base: number;
  increment: number;
  byoyomi: number;
  /** Moves per period; 0 for the whole game. */
  moves: number;
  /** Seconds per move. */
  each: number;
  depth: number;
  nodes: number;
}

export interface PlayerForm {
  kind: 'human' | 'engine';
  engine: number;
  name: string;
  ponder: boolean;
  limited: boolean;
  strength: number;
  time: TimeForm;
  options: GameValues;
}

/** Option values for this game, by engine. */
export type GameValues = { [engine in string]?: Record<string, string> };

export interface NewGameForm {
  variant: Variant;
  opponent: number;
  side: Side | 'random';
  name: string;
  limited: boolean;
  strength: number;
  ponder: boolean;
  options: GameValues;
  time: TimeForm;
  each: boolean;
  players: Record<Side, PlayerForm>;
  start: 'standard' | 'text';
  text: string;
  number: number | null;
  handicap: string;
  rules: PlayRules;
  book: string;
  bookPlies: number;
}

const none: TimeForm = {
  kind: 'none',
  base: 10,
  increment: 0,
  byoyomi: 0,
  moves: 0,
  each: 5,
  depth: 0,
  nodes: 0,
};

export const clock = (base: number, increment: number, byoyomi = 0): TimeForm => ({
  ...none,
  kind: 'clock',
  base,
  increment,
  byoyomi,
});

export function presets(variant: Variant): { label: string; time: TimeForm }[] {
  const fischer = [
    [1, 0],
    [3, 2],
    [5, 3],
    [10, 5],
    [15, 10],
    [30, 20],
  ] as const;
  const byoyomi = [
    [0, 10],
    [5, 30],
    [10, 30],
    [15, 60],
  ] as const;
  const clocks =
    variant === 'shogi'
      ? byoyomi.map(([base, last]) => ({ label: `${base}′ + ${last}″`, time: clock(base, 0, last) }))
      : fischer.map(([base, increment]) => ({
          label: `${base} + ${increment}`,
          time: clock(base, increment),
        }));
  return [...clocks, { label: '', time: none }];
}

export function timeOf(form: TimeForm): Time {
  const milliseconds = (seconds: number) => Math.max(0, Math.round((seconds || 0) * 1000));
  switch (form.kind) {
    case 'none':
      return { kind: 'none' };
    case 'per_move':
      return { kind: 'per_move', time: Math.max(10, milliseconds(form.each)) };
    case 'clock':
      return {
        kind: 'clock',
        base: milliseconds(form.base * 60),
        increment: milliseconds(form.increment),
        byoyomi: milliseconds(form.byoyomi),
        moves: form.moves > 0 ? Math.floor(form.moves) : null,
      };
  }
}

/** The strength setting of an engine. */
export const strengthRange = (engine: EngineState | undefined, variant: Variant): StrengthRange | null =>
  (variant === 'shogi' ? engine?.strength_in_shogi : engine?.strength) ?? null;

/** The rating of a club player. */
const ELO = 1500;

/** The selected strength if it fits the range, otherwise a default. */
export function strengthIn(range: StrengthRange, selected: number): number {
  const fits = (value: number) => range.min <= value && value <= range.max;
  if (fits(selected)) return selected;
  if (range.kind === 'elo' && fits(ELO)) return ELO;
  return Math.floor((range.min + range.max) / 2);
}

/** Names of strengths, the lowest first. */
export const STRENGTHS = [
  'beginner',
  'casual',
  'intermediate',
  'advanced',
  'expert',
  'master',
  'grandmaster',
  'superhuman',
] as const;
export type StrengthName = (typeof STRENGTHS)[number];

/** The lowest Elo ratings of the names after the first one. */
const RATINGS = [1000, 1300, 1600, 1900, 2200, 2500, 2800];

/** The name of a strength: by its rating, or by its place among the levels of the engine. */
export function strengthName(range: StrengthRange, value: number): StrengthName {
  const part = (value - range.min) / (range.max - range.min + 1);
  const index =
    range.kind === 'elo'
      ? RATINGS.filter((rating) => rating <= value).length
      : Math.floor(part * STRENGTHS.length);
  return STRENGTHS[index] ?? 'superhuman';
}

/** The named strengths of a range, with the lowest value of each. */
export function namedStrengths(range: StrengthRange): [StrengthName, number][] {
  const step = (range.max - range.min + 1) / STRENGTHS.length;
  return STRENGTHS.flatMap((name, index): [StrengthName, number][] => {
    const lowest =
      range.kind === 'elo' ? (RATINGS[index - 1] ?? range.min) : range.min + Math.ceil(step * index);
    const value = Math.max(range.min, lowest);
    return value <= range.max && strengthName(range, value) === name ? [[name, value]] : [];
  });
}

/** A level as it is displayed: counted from 1 if the engine has negative levels. */
export const shownLevel = (range: StrengthRange, value: number): number =>
  range.kind === 'level' && range.min < 0 ? value - range.min + 1 : value;

export function blankPlayer(kind: PlayerForm['kind']): PlayerForm {
  return {
    kind,
    engine: 0,
    name: '',
    ponder: false,
    limited: false,
    strength: ELO,
    time: clock(10, 5),
    options: {},
  };
}

export function defaultForm(): NewGameForm {
  return {
    variant: 'chess',
    opponent: -1,
    side: 'first',
    name: '',
    limited: false,
    strength: ELO,
    ponder: false,
    options: {},
    time: clock(10, 5),
    each: false,
    players: { first: blankPlayer('human'), second: blankPlayer('engine') },
    start: 'standard',
    text: '',
    number: null,
    handicap: '',
    rules: 'federation',
    book: '',
    bookPlies: 16,
  };
}

/** Whether an advanced setting differs from its default. */
export function hasAdvanced(form: NewGameForm): boolean {
  const defaults = defaultForm();
  const { time, variant } = form;
  return (
    form.each ||
    form.ponder ||
    Object.keys(form.options[form.opponent] ?? {}).length > 0 ||
    form.start !== defaults.start ||
    (variant === 'chess960' && form.number !== null) ||
    form.rules !== defaults.rules ||
    form.book.trim() !== '' ||
    time.moves > 0 ||
    (form.opponent !== 0 && (time.depth > 0 || time.nodes > 0))
  );
}

/** Whether a value has the type of the default. A null default is the number of a start position. */
function fits(value: unknown, standard: unknown): boolean {
  if (standard === null) return value === null || Number.isInteger(value);
  return value !== null && typeof value === typeof standard;
}

/** Restores a stored form; invalid fields get their defaults. */
export function restoreForm(text: string): NewGameForm {
  const form = defaultForm();
  try {
    const old: unknown = JSON.parse(text || '{}');
    if (typeof old !== 'object' || old === null) return form;
    const known = Object.entries(old).filter(
      ([name, value]) => name in form && fits(value, form[name as keyof NewGameForm]),
    );
    const found = { ...form, ...Object.fromEntries(known) };
    // Adds fields missing in a stored player.
    for (const side of ['first', 'second'] as const) {
      found.players[side] = { ...form.players[side], ...found.players[side] };
    }
    // A custom position is not restored.
    return { ...found, start: form.start, text: form.text };
  } catch {
    return form;
  }
}

/** The engines that play a variant. */
export const playing = (engines: EngineState[], variant: Variant) =>
  engines.filter((engine) => engine.variants.includes(variant));

/** The engine of a form with this id, or else the first one. */
export const engineOf = (fitting: EngineState[], id: number): EngineState | undefined =>
  fitting.find((engine) => engine.id === id) ?? fitting[0];

function playerOf(
  entry: PlayerForm,
  time: TimeForm,
  form: NewGameForm,
  fitting: EngineState[],
  human: string,
): Player {
  const engine = entry.kind === 'engine' ? engineOf(fitting, entry.engine) : undefined;
  if (!engine) return { kind: 'human', name: entry.name.trim() || human, time: timeOf(time) };
  const range = strengthRange(engine, form.variant);
  return {
    kind: 'engine',
    engine: engine.id,
    time: timeOf(time),
    limits: { depth: time.depth || null, nodes: time.nodes || null, time: null, mate: null },
    ponder: entry.ponder,
    strength: entry.limited && range ? { value: strengthIn(range, entry.strength) } : null,
    options: fittingValues(engine, entry.options[engine.id] ?? {}),
  };
}

function playersOf(form: NewGameForm, fitting: EngineState[], name: string): Sides<Player> {
  const player = (entry: PlayerForm, time: TimeForm) => playerOf(entry, time, form, fitting, name);
  if (form.each) {
    const { first, second } = form.players;
    return { first: player(first, first.time), second: player(second, second.time) };
  }
  const human: PlayerForm = { ...blankPlayer('human'), name: form.name };
  const opponent: PlayerForm = {
    ...blankPlayer(form.opponent === 0 ? 'human' : 'engine'),
    engine: form.opponent,
    ponder: form.ponder,
    limited: form.limited,
    strength: form.strength,
    options: form.options,
  };
  const mine =
    form.side === 'random'
      ? (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) % 2 === 0
      : form.side === 'first';
  const [me, it] = [player(human, form.time), player(opponent, form.time)];
  return mine ? { first: me, second: it } : { first: it, second: me };
}

function startOf(form: NewGameForm): Start {
  if (form.start === 'text' && form.text.trim()) return { kind: 'text', text: form.text.trim() };
  if (form.variant === 'chess960') {
    const { number } = form;
    return { kind: 'number', number: number === null ? null : Math.min(959, Math.max(0, number)) };
  }
  if (form.variant === 'shogi' && form.handicap) return { kind: 'handicap', name: form.handicap };
  return { kind: 'usual' };
}

/** The request for a game; `human` names a player without a name. */
export function requestOf(form: NewGameForm, engines: EngineState[], human: string): NewGame {
  return {
    variant: form.variant,
    start: startOf(form),
    players: playersOf(form, playing(engines, form.variant), human),
    rules: form.rules,
    book: form.book.trim() ? { path: form.book.trim(), plies: form.bookPlies } : null,
  };
}
