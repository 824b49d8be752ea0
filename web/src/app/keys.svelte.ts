// Keyboard shortcuts: one table for the help dialog and the key handler.
import { untrack } from 'svelte';
import type { Key } from '../i18n/en';

interface Section {
  /** The label of the scope. */
  readonly scope: Key;
  /** Keys in the notation of `nameOf`, by the label of the action. */
  readonly keys: Readonly<Partial<Record<Key, readonly string[]>>>;
}

const TABLE = [
  {
    scope: 'keys.global',
    keys: {
      'keys.help': ['?'],
      'nav.play': ['1'],
      'nav.analyse': ['2'],
      'nav.engines': ['3'],
      'nav.matches': ['4'],
      'nav.library': ['5'],
      'nav.settings': ['6'],
      'nav.training': ['7'],
    },
  },
  {
    scope: 'keys.game',
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
    scope: 'keys.play',
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
    scope: 'report.learn',
    keys: {
      'report.next': ['j'],
      'report.show': ['s'],
    },
  },
] as const satisfies readonly Section[];

/** The table for the help dialog. */
export const SHORTCUTS: readonly Section[] = TABLE;

type KeysOf<P> = P extends { readonly keys: infer K } ? keyof K : never;
export type Shortcut = KeysOf<(typeof TABLE)[number]>;
type Runs = Partial<Record<Shortcut, () => void>>;

class Keys {
  /** Handlers of mounted components; the last registered takes precedence. */
  runs = $state.raw<Runs[]>([]);
  help = $state(false);
}

export const keys = new Keys();

/** Registers shortcut handlers for the lifetime of the component. */
export function shortcuts(runs: Runs) {
  $effect(() => {
    keys.runs = [...untrack(() => keys.runs), runs];
    return () => {
      keys.runs = keys.runs.filter((one) => one !== runs);
    };
  });
}

/** The current handler of a key. */
function runOf(name: string): (() => void) | undefined {
  const of = SHORTCUTS.flatMap((section) => Object.entries(section.keys)).find(([, all]) =>
    all.includes(name),
  );
  return of && keys.runs.map((runs) => runs[of[0] as Shortcut]).findLast((run) => run !== undefined);
}

/** The name of a key event in the notation of the table. */
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
    // These widgets handle the same keys.
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
