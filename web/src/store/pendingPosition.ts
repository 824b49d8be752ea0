// What the library is to be searched for when it is opened next: a position that was on a board.
import type { Variant } from '../api/wire';

let wanted: { variant: Variant; position: string } | null = null;

export function setPendingPosition(variant: Variant, position: string) {
  wanted = { variant, position };
}

/** Gives it once. */
export function consumePendingPosition(): { variant: Variant | ''; position: string } {
  const found = wanted ?? { variant: '' as const, position: '' };
  wanted = null;
  return found;
}
