// Keyboard shortcuts: one table, which the overlay shows and the page obeys.
import { untrack } from 'svelte';
import type { Key } from '../i18n/en';

export interface Shortcut {
  /** As `KeyboardEvent.key` has it, with `Ctrl+` and `Shift+` before it where needed. */
  keys: string[];
  /** What it does, for people. */
  label: Key;
  run: () => void;
}

class Keys {
  list = $state.raw<Shortcut[]>([]);
  help = $state(false);
}

export const keys = new Keys();

/** Adds shortcuts for as long as the component lives. */
export function shortcuts(list: Shortcut[]) {
  $effect(() => {
    keys.list = [...untrack(() => keys.list), ...list];
    return () => {
      keys.list = keys.list.filter((one) => !list.includes(one));
    };
  });
}

/** The name of a key event, as shortcuts write it. */
export function nameOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey'>): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const letter = /^[a-z]$/.test(key) || event.key.length > 1;
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.shiftKey && letter ? 'Shift+' : ''}${key}`;
}

export function onKey(event: KeyboardEvent) {
  if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open]')) return;
  const target = event.target;
  if (target instanceof HTMLElement) {
    if (target.matches('input, textarea, select, [contenteditable]')) return;
    // These walk with the same keys.
    if (
      target.closest('[role=grid], [role=slider], [role=tablist], [data-walk]') &&
      /^(Arrow|Home|End|Enter| )/.test(event.key)
    )
      return;
    if (target.matches('button, a, summary') && (event.key === 'Enter' || event.key === ' ')) return;
  }
  const name = nameOf(event);
  const found = keys.list.find((one) => one.keys.includes(name));
  if (!found) return;
  event.preventDefault();
  found.run();
}
