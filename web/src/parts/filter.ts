// Conditions on games of the library, as the user enters them.
import type { LibraryFilter, Speed, Variant } from '../api/wire';

export interface FilterForm {
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
  event: string;
  label: string;
  from: string;
  until: string;
  rating: number | null;
  speed: '' | Speed;
}

export const SPEEDS = ['bullet', 'blitz', 'rapid', 'classical', 'correspondence'] as const;

/** A form that all games match. */
export const blankFilter = (): FilterForm => ({
  variant: '',
  player: '',
  side: '',
  engine: '',
  result: '',
  opening: '',
  named: '',
  position: '',
  event: '',
  label: '',
  from: '',
  until: '',
  rating: null,
  speed: '',
});

export function filterOf(form: FilterForm): LibraryFilter {
  const text = (value: string) => value.trim() || null;
  return {
    variant: form.variant || null,
    player: text(form.player),
    side: form.side || null,
    engine: text(form.engine),
    result: form.result || null,
    opening: text(form.opening),
    named: text(form.named),
    position: text(form.position),
    event: text(form.event),
    label: form.label || null,
    from: form.from || null,
    until: form.until || null,
    min_rating: form.rating || null,
    speed: form.speed || null,
  };
}
