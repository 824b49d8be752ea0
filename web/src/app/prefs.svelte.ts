// Preferences of the user, stored by the server and, for the first paint, by the browser.
export type Theme = 'auto' | 'light' | 'dark' | 'contrast';
export type Language = 'en' | 'ja';
export type ShogiPieces = 'kanji' | 'international';
export type Notation = 'auto' | 'western' | 'japanese';

/** All stored preferences, as strings. */
export const defaults = {
  theme: 'auto' as Theme,
  language: '' as Language | '',
  shogiPieces: '' as ShogiPieces | '',
  notation: 'auto' as Notation,
  coordinates: 'true',
  animation: 'true',
  announce: 'true',
  arrows: 'true',
  evalbar: 'true',
  newGame: '',
  analysis: '',
};

export type Prefs = typeof defaults;

const KEY = 'readyok';

function read(): Prefs {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return { ...defaults };
  }
}

export const prefs = $state<Prefs>(read());

let keep: (page: Record<string, string>) => void = () => {};

/** Sets a second store in addition to the browser. */
export function persistWith(keeper: typeof keep) {
  keep = keeper;
}

export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]) {
  prefs[name] = value;
  store();
  keep($state.snapshot(prefs));
}

/** Applies the preferences stored by the server. */
export function applyPrefs(page: { [key in string]?: string }) {
  const next: Record<string, string> = prefs;
  for (const name of Object.keys(defaults)) {
    const value = page[name];
    if (typeof value === 'string') next[name] = value;
  }
  store();
}

function store() {
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // Without storage the preferences come from the server.
  }
}

export function language(): Language {
  if (prefs.language) return prefs.language;
  return navigator.language.startsWith('ja') ? 'ja' : 'en';
}

export function shogiPieces(): ShogiPieces {
  return prefs.shogiPieces || (language() === 'ja' ? 'kanji' : 'international');
}

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
