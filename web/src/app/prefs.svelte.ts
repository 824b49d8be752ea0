// Preferences of the user, stored by the server and, for the first paint, by the browser.
import {
  CHESS_BOARDS,
  CHESS_SETS,
  SHOGI_BOARDS,
  SHOGI_SETS,
  existing,
  type ChessBoard,
  type ChessPieces,
  type ShogiBoard,
  type ShogiPieces,
} from './sets';

export type Theme = 'auto' | 'light' | 'dark' | 'contrast';
export type Language = 'en' | 'ja';
export type Coordinates = 'inside' | 'off';
export type Notation = 'auto' | 'western' | 'japanese';

/** All stored preferences, as strings. */
export const defaults = {
  theme: 'auto' as Theme,
  language: '' as Language | '',
  shogiPieces: '' as ShogiPieces | '',
  chessPieces: 'classic' as ChessPieces,
  chessBoard: 'green' as ChessBoard,
  shogiBoard: 'kaya' as ShogiBoard,
  notation: 'auto' as Notation,
  coordinates: 'inside' as Coordinates,
  animation: 'true',
  announce: 'true',
  arrows: 'true',
  evalbar: 'true',
  sound: 'true',
  /** Whether the output of the opponent is shown during a game. */
  opponentInfo: 'false',
  tablebase: 'false',
  explorer: 'false',
  explorerSource: '',
  /** The width of the board in percent of the available room. */
  boardSize: '100',
  /** The author's annotation symbols, and the judgments of engines. */
  symbols: 'true',
  judgements: 'true',
  /** The form of the latest report. */
  report: '',
  /** Names of open games, by number. */
  gameNames: '',
  figurines: 'false',
  newGame: '',
  analysis: '',
};

export type Prefs = typeof defaults;

const KEY = 'readyok';
const UNSAVED_KEY = 'readyok.unsaved';

function read(key: string): Record<string, string> {
  let stored: Record<string, unknown> = {};
  try {
    stored = Object(JSON.parse(localStorage.getItem(key) ?? '{}'));
  } catch {
    // Without storage the preferences come from the server.
  }
  const known = Object.keys(defaults).map((name) => [name, stored[name]]);
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'));
}

/** The settings in the page, which the server has stored for another browser or address. */
function inPage(): Record<string, string> {
  if (typeof document === 'undefined') return {};
  const { language, theme } = document.documentElement.dataset;
  return { ...(language && { language }), ...(theme && { theme }) };
}

/** Changes without confirmation of the server. A reload does not lose them: they are sent again. */
const unsaved = read(UNSAVED_KEY);

export const prefs = $state<Prefs>({ ...defaults, ...read(KEY), ...inPage(), ...unsaved });

let send: (page: Record<string, string>) => Promise<void> = () => Promise.reject();
let requests = 0;

/** Sets a second store in addition to the browser. Its promise is rejected if nothing was stored. */
export function persistWith(sender: typeof send) {
  send = sender;
}

export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]) {
  prefs[name] = value;
  unsaved[name] = value;
  store();
  void save();
}

/** Applies the preferences stored by the server, except for later changes. */
export function applyPrefs(page: { [key in string]?: string }) {
  const next: Record<string, string> = prefs;
  for (const name of Object.keys(defaults)) {
    const value = unsaved[name] ?? page[name];
    if (typeof value === 'string') next[name] = value;
  }
  store();
  if (requests === 0 && Object.keys(unsaved).length > 0) void save();
}

async function save() {
  const sent = { ...unsaved };
  requests++;
  try {
    await send($state.snapshot(prefs));
    for (const [name, value] of Object.entries(sent)) {
      if (unsaved[name] === value) delete unsaved[name];
    }
    store();
  } catch {
    // Sent again with the next settings of the server.
  } finally {
    requests--;
  }
}

function store() {
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
    localStorage.setItem(UNSAVED_KEY, JSON.stringify(unsaved));
  } catch {
    // Without storage the preferences come from the server.
  }
}

export function language(): Language {
  if (prefs.language) return prefs.language;
  return navigator.language.startsWith('ja') ? 'ja' : 'en';
}

export function shogiPieces(): ShogiPieces {
  if (prefs.shogiPieces) return existing(SHOGI_SETS, prefs.shogiPieces);
  return language() === 'ja' ? 'kanji' : 'international';
}

/** Whether the pieces of shogi show Japanese characters. */
export const hasKanji = () => shogiPieces() !== 'international';

export const chessPieces = () => existing(CHESS_SETS, prefs.chessPieces);
export const chessBoard = () => existing(CHESS_BOARDS, prefs.chessBoard);
export const shogiBoard = () => existing(SHOGI_BOARDS, prefs.shogiBoard);

const dark = matchMedia('(prefers-color-scheme: dark)');
const contrast = matchMedia('(prefers-contrast: more)');

const still = matchMedia('(prefers-reduced-motion: reduce)');

class Media {
  dark = $state(dark.matches);
  contrast = $state(contrast.matches);
  still = $state(still.matches);
}

const media = new Media();
dark.addEventListener('change', () => (media.dark = dark.matches));
contrast.addEventListener('change', () => (media.contrast = contrast.matches));

still.addEventListener('change', () => (media.still = still.matches));

/** Whether pieces are animated: enabled by the user and not reduced by the system. */
export function animated(): boolean {
  return prefs.animation === 'true' && !media.still;
}

export function theme(): Exclude<Theme, 'auto'> {
  if (prefs.theme !== 'auto') return prefs.theme;
  if (media.contrast) return 'contrast';
  return media.dark ? 'dark' : 'light';
}
