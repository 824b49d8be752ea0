// Texts in the user's language. A test compares keys and placeholders of the dictionaries.
import type { Variant } from '../api/wire';
import { language, type Language } from '../app/prefs.svelte';
import { en, type Key } from './en';
import { ja } from './ja';

export const dictionaries: Record<Language, Record<Key, string>> = { en, ja };

export function t(key: Key, values: Record<string, string | number> = {}): string {
  return fill(dictionaries[language()][key], values);
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

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
