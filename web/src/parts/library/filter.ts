// Conditions on games of the library, as the user enters them.
import type { LibraryFilter, LibrarySource, Speed, Variant } from '../../api/wire';
import type { Key } from '../../i18n/en';

export interface FilterForm {
  /** A position, moves, or part of a name of a player, an opening or an event. */
  text: string;
  variant: '' | Variant;
  player: string;
  side: '' | 'first' | 'second';
  engine: string;
  result: string;
  /** Moves from the start position. */
  opening: string;
  /** The name of the opening, or its ECO code. */
  named: string;
  position: string;
  /** The terms of a pattern of positions. */
  pattern: string;
  event: string;
  label: string;
  from: string;
  until: string;
  rating: number | null;
  speed: '' | Speed;
}

/** The parts of the library by the origin of the games. */
export const ORIGINS = {
  mine: { source: 'play', label: 'library.mine', icon: 'play' },
  matches: { source: 'match', label: 'library.matches', icon: 'matches' },
} as const satisfies Record<string, { source: LibrarySource; label: Key; icon: string }>;
export type Origin = keyof typeof ORIGINS;

export const isOrigin = (part: string): part is Origin => part in ORIGINS;

export const SPEEDS = ['bullet', 'blitz', 'rapid', 'classical', 'correspondence'] as const;

/** A form that all games match. */
export const blankFilter = (): FilterForm => ({
  text: '',
  variant: '',
  player: '',
  side: '',
  engine: '',
  result: '',
  opening: '',
  named: '',
  position: '',
  pattern: '',
  event: '',
  label: '',
  from: '',
  until: '',
  rating: null,
  speed: '',
});

/** The fields of the chips of the filter bar. A chip is also shown if it is among the first ones. */
export const CHIPS = [
  { label: 'new.variant', fields: ['variant'], always: true },
  { label: 'library.player', fields: ['player', 'side'], always: true },
  { label: 'library.result', fields: ['result'], always: true },
  { label: 'library.opening_column', fields: ['named', 'opening'], always: true },
  { label: 'library.rating', fields: ['rating'], always: true },
  { label: 'library.date', fields: ['from', 'until'], always: true },
  { label: 'library.pattern', fields: ['pattern'], always: true },
  { label: 'library.speed', fields: ['speed'], always: false },
  { label: 'library.event', fields: ['event'], always: false },
  { label: 'library.engine', fields: ['engine'], always: false },
  { label: 'library.position', fields: ['position'], always: false },
  { label: 'library.label', fields: ['label'], always: false },
] as const satisfies readonly { label: Key; fields: readonly (keyof FilterForm)[]; always: boolean }[];
export type Chip = (typeof CHIPS)[number];

export function filterOf(form: FilterForm): LibraryFilter {
  const text = (value: string) => value.trim() || null;
  return {
    variant: form.variant || null,
    text: text(form.text),
    player: text(form.player),
    side: form.side || null,
    engine: text(form.engine),
    result: form.result || null,
    opening: text(form.opening),
    named: text(form.named),
    position: text(form.position),
    pattern: text(form.pattern),
    event: text(form.event),
    label: form.label || null,
    from: dateOf(form.from),
    until: dateOf(form.until),
    min_rating: form.rating || null,
    speed: form.speed || null,
    source: null,
  };
}

/** The conditions on positions, the first match of which a preview shows; null without any. */
export function positionFilter(filter: LibraryFilter): LibraryFilter | null {
  const { variant, text, opening, position, pattern } = filter;
  if (text === null && opening === null && position === null && pattern === null) return null;
  return { ...filterOf(blankFilter()), variant, text, opening, position, pattern };
}

/** Reads a date or a part of one: `2024`, `2024-05`, `2024-05-31`, also with dots or slashes. Null if it is invalid. */
export function dateOf(text: string): string | null {
  const parts = text
    .normalize('NFKC')
    .trim()
    .split(/[-./年月日]/);
  const [year = '', month = '', day = '', ...rest] = parts;
  if (!/^\d{4}$/.test(year) || rest.some(Boolean)) return null;
  // Still being typed.
  const open = (part: string) => part === '' || part === '0';
  if (open(month)) return open(day) ? year : null;
  if (!isWithin(month, 12)) return null;
  const date = `${year}-${month.padStart(2, '0')}`;
  if (open(day)) return date;
  return isWithin(day, 31) ? `${date}-${day.padStart(2, '0')}` : null;
}

const isWithin = (part: string, max: number) =>
  /^\d{1,2}$/.test(part) && Number(part) >= 1 && Number(part) <= max;
