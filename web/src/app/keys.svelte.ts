// The commands of the app and their keys: one table for the key handler, the help dialog and the command palette.
import { untrack } from 'svelte';
import type { Key } from '../i18n/en';

interface Section {
  /** The label of the scope. */
  readonly scope: Key;
  /** Keys in the notation of `nameOf`, by the label of the command; none for commands of the palette only. */
  readonly keys: Readonly<Partial<Record<Key, readonly string[]>>>;
}

const TABLE = [
  {
    scope: 'keys.global',
    keys: {
      'palette.open': ['Ctrl+k'],
      'search.focus': ['/'],
      'keys.help': ['?'],
      'nav.home': ['g h', '1'],
      'nav.play': ['g p', '2'],
      'nav.analyse': ['g a', '3'],
      'nav.library': ['g l', '4'],
      'nav.training': ['g t', '5'],
      'nav.matches': ['g m', '6'],
      'nav.engines': ['g e', '7'],
      'nav.settings': ['g s', '8'],
      'home.choose': [],
      'find.title': [],
      'engine.add': [],
      'match.new': [],
    },
  },
  {
    scope: 'boards.open',
    keys: {
      'boards.number': Array.from({ length: 9 }, (_, index) => `Alt+${index + 1}`),
      'boards.all': ['Alt+0', 'Ctrl+Tab'],
      'boards.new.chess': [],
      'boards.new.chess960': [],
      'boards.new.shogi': [],
      'boards.rename': [],
      'boards.close': [],
      'boards.close_others': [],
      'boards.close_drafts': [],
      'tabs.reopen': [],
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
      'order.previous': ['PageUp'],
      'order.next': ['PageDown'],
      'board.flip': ['f'],
      'board.focus': ['b'],
      'entry.focus': ['m'],
      'eval.announce': ['e'],
      'engine.toggle': [' '],
      'report.run': ['r'],
      'report.graph': [],
      'edit.comment': ['c'],
      'copy.position': ['y'],
      'copy.game': ['Shift+y'],
      'share.open': [],
      'draft.save': ['Ctrl+s'],
      'editor.title': [],
      'library.find_position': ['l'],
      'new.title': ['n'],
      'new.from': [],
      'sound.mute': [],
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

/** The table for the help dialog and the palette. */
export const COMMANDS: readonly Section[] = TABLE;

/** Keys that also work in text fields. */
const EVERYWHERE = ['Ctrl+k', 'Ctrl+s'];
/** How long a key waits for the second one of a sequence. */
const SEQUENCE = 800;

type KeysOf<P> = P extends { readonly keys: infer K } ? keyof K : never;
export type Command = KeysOf<(typeof TABLE)[number]>;
/** Runs a command; receives the pressed key, or nothing from the palette. */
type Run = (key?: string) => void;
type Runs = Partial<Record<Command, Run>>;

class Keys {
  /** Handlers of mounted components; the last registered takes precedence. */
  runs = $state.raw<Runs[]>([]);
  help = $state(false);
  palette = $state(false);
}

export const keys = new Keys();

/** Registers the handlers of commands for the lifetime of the component. */
export function shortcuts(runs: Runs) {
  $effect(() => {
    keys.runs = [...untrack(() => keys.runs), runs];
    return () => {
      keys.runs = keys.runs.filter((one) => one !== runs);
    };
  });
}

/** The present handler of a command: none if it is not possible now. */
export const runOf = (command: string): Run | undefined =>
  keys.runs.map((runs) => runs[command as Command]).findLast((run) => run !== undefined);

/** The present handler of a key. Keys of different scopes may be equal: the last registered handler takes precedence. */
function runOfKey(name: string): Run | undefined {
  const commands = COMMANDS.flatMap((section) => Object.entries(section.keys))
    .filter(([, all]) => all.includes(name))
    .map(([command]) => command as Command);
  return keys.runs
    .map((runs) => commands.map((command) => runs[command]).find((run) => run !== undefined))
    .findLast((run) => run !== undefined);
}

const FIRST_KEYS = new Set(
  COMMANDS.flatMap((section) => Object.values(section.keys).flat())
    .filter((name) => /^\S+ \S/.test(name))
    .map((name) => name.split(' ')[0]),
);

type Event = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey'> &
  Partial<Pick<KeyboardEvent, 'altKey' | 'code'>>;

/** The name of a key event in the notation of the table. */
export function nameOf(event: Event): string {
  // With Alt, macOS enters another character.
  if (event.altKey)
    return `Alt+${/^(?:Digit|Key)(.)$/.exec(event.code ?? '')?.[1]?.toLowerCase() ?? event.key}`;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const letter = /^[a-z]$/.test(key) || event.key.length > 1;
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.shiftKey && letter ? 'Shift+' : ''}${key}`;
}

/** Whether the focused element handles a key itself. */
function isTaken(target: EventTarget | null, name: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches('input, textarea, select, [contenteditable]')) return !EVERYWHERE.includes(name);
  // These widgets handle the same keys.
  const walks = target.closest('[role=grid], [role=slider], [role=tablist], [data-walk]');
  if (walks && /^(Arrow|Home|End|Page|Enter| )/.test(name)) return true;
  return target.matches('button, a, summary') && (name === 'Enter' || name === ' ');
}

/** The first key of a sequence, until the second one or the end of the time. */
let first: { name: string; timer: ReturnType<typeof setTimeout> } | undefined;

export function onKey(event: KeyboardEvent) {
  // AltGr enters characters.
  if (event.defaultPrevented || (event.altKey && event.ctrlKey) || document.querySelector('dialog[open]'))
    return;
  if (/^(Shift|Control|Alt|Meta)$/.test(event.key)) return;
  const name = nameOf(event);
  if (isTaken(event.target, name)) return;
  const before = first?.name;
  clearTimeout(first?.timer);
  first = undefined;
  const sequence = before === undefined ? undefined : runOfKey(`${before} ${name}`);
  if (sequence) {
    event.preventDefault();
    sequence(name);
    return;
  }
  // The first key alone may be another command.
  if (before !== undefined) runOfKey(before)?.(before);
  if (FIRST_KEYS.has(name)) {
    const timer = setTimeout(() => {
      first = undefined;
      runOfKey(name)?.(name);
    }, SEQUENCE);
    first = { name, timer };
    event.preventDefault();
    return;
  }
  const run = runOfKey(name);
  if (!run) return;
  event.preventDefault();
  run(name);
}

const NAMES: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  PageUp: 'PgUp',
  PageDown: 'PgDn',
  ' ': 'Space',
};

/** A key as it is displayed: `Ctrl K`, `G H`. */
export const shownKey = (key: string) =>
  (key === ' ' ? [key] : key.split(/\+(?=.)| /))
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(' ');
