// Texts in the user's language. A test compares keys and placeholders of the dictionaries.
import type { Variant } from '../api/wire';
import { language, type Language } from '../app/prefs.svelte';
import { en, type Key } from './en';
import { fill } from './fill';

type Dictionary = Record<Key, string>;

/** English is always loaded, other languages when they are chosen. */
let loaded = $state.raw<Partial<Record<Language, Dictionary>>>({ en });
const sources: Partial<Record<Language, () => Promise<Dictionary>>> = {
  ja: async () => (await import('./ja')).ja,
};

/** Loads the texts of a language. Until then, English ones are shown. */
export async function loadLanguage(which: Language) {
  if (loaded[which]) return;
  const dictionary = await sources[which]?.();
  if (dictionary) loaded = { ...loaded, [which]: dictionary };
}

/** A text in all loaded languages. */
export function allTexts(key: Key): string[] {
  return Object.values(loaded).map((dictionary) => dictionary[key]);
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  return fill((loaded[language()] ?? en)[key], values);
}

/** Whether a key from outside exists. */
export function known(key: string): key is Key {
  return Object.hasOwn(en, key);
}

/** The key of a text with the terms of a variant: Japanese has different ones for chess and shogi. */
export function ofVariant(key: Key, variant: Variant): Key {
  const chess = `${key}.chess`;
  return variant !== 'shogi' && known(chess) ? chess : key;
}
