// Lists whose entries are reached by the arrow keys, Home and End.

/** Moves the focus if the key is one of them; returns whether it is. `at` is the index of the entry with the focus. */
export function walk(event: KeyboardEvent, entries: HTMLElement[], at: number): boolean {
  const ways: Record<string, number> = {
    ArrowDown: (at + 1) % entries.length,
    ArrowUp: at <= 0 ? -1 : at - 1,
    Home: 0,
    End: -1,
  };
  const to = ways[event.key];
  if (to === undefined) return false;
  entries.at(to)?.focus();
  event.preventDefault();
  event.stopPropagation();
  return true;
}
