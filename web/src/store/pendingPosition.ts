// The position that the library searches for when it is opened next.
import type { Variant } from '../api/wire';

let wanted: { variant: Variant; position: string } | null = null;

export function setPendingPosition(variant: Variant, position: string) {
  wanted = { variant, position };
}

/** Returns the position and clears it. */
export function consumePendingPosition(): { variant: Variant | ''; position: string } {
  const found = wanted ?? { variant: '' as const, position: '' };
  wanted = null;
  return found;
}
