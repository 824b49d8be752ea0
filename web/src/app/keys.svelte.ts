// Keyboard shortcuts: one table, which the overlay shows and the page obeys. What is not in it has no key.
import { untrack } from 'svelte';
import type { Key } from '../i18n/en';

interface Place {
  /** Where they work, for people. */
  readonly where: Key;
  /** By what each does, for people: its keys, as `nameOf` writes them. */
  readonly keys: Readonly<Partial<Record<Key, readonly string[]>>>;
}

const TABLE = [
  {
    where: 'keys.global',
    keys: {
      'keys.help': ['?'],
      'nav.play': ['1'],
      'nav.analyse': ['2'],
      'nav.engines': ['3'],
      'nav.matches': ['4'],
      'nav.library': ['5'],
      'nav.settings': ['6'],
    },
  },
  {
    where: 'keys.game',
    keys: {
      'step.back': ['ArrowLeft'],
      'step.next': ['ArrowRight'],
      'step.first': ['ArrowUp', 'Home'],
      'step.last': ['ArrowDown', 'End'],
      'step.up': ['['],
      'step.down': [']'],
      'board.flip': ['f'],
      'board.focus': ['b'],
      'entry.focus': ['m'],
      'eval.announce': ['e'],
      'library.find_position': ['l'],
      'new.title': ['n'],
      'edit.undo': ['Ctrl+z'],
      'edit.redo': ['Ctrl+y', 'Ctrl+Shift+z'],
    },
  },
  {
    where: 'keys.play',
    keys: {
      'play.takeback': ['t'],
      'play.hint': ['h'],
      'play.pause': ['p'],
      'play.movenow': ['g'],
      'play.clocks': ['c'],
      'play.rematch': ['r'],
    },
  },
  {
    where: 'report.learn',
    keys: {
      'report.next': ['j'],
      'report.show': ['s'],
    },
  },
] as const satisfies readonly Place[];

/** All of them, for people to read. */
export const SHORTCUTS: readonly Place[] = TABLE;

type KeysOf<P> = P extends { readonly keys: infer K } ? keyof K : never;
/** What a key can do. */
export type Shortcut = KeysOf<(typeof TABLE)[number]>;
type Runs = Partial<Record<Shortcut, () => void>>;

class Keys {
  /** What the components that are there do, the latest last. */
  runs = $state.raw<Runs[]>([]);
  help = $state(false);
}

export const keys = new Keys();

/** Obeys shortcuts for as long as the component lives. */
export function shortcuts(runs: Runs) {
  $effect(() => {
    keys.runs = [...untrack(() => keys.runs), runs];
    return () => {
      keys.runs = keys.runs.filter((one) => one !== runs);
    };
  });
}

/** What is done at a key now; nothing where nobody obeys it. */
function runOf(name: string): (() => void) | undefined {
  const of = SHORTCUTS.flatMap((place) => Object.entries(place.keys)).find(([, all]) => all.includes(name));
  return of && keys.runs.map((runs) => runs[of[0] as Shortcut]).findLast((run) => run !== undefined);
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
  const run = runOf(nameOf(event));
  if (!run) return;
  event.preventDefault();
  run();
}
