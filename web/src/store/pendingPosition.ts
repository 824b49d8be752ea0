// The position that the library searches for when it is opened next.
import type { Variant } from '../api/wire';

let pending: { variant: Variant; position: string } | null = null;

export function setPendingPosition(variant: Variant, position: string) {
  pending = { variant, position };
}

/** Returns the position and clears it. */
export function consumePendingPosition(): { variant: Variant | ''; position: string } {
  const found = pending ?? { variant: '' as const, position: '' };
  pending = null;
  return found;
}
