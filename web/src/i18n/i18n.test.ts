import { describe, expect, test, vi } from 'vitest';
import { en } from './en';
import { ja } from './ja';

vi.stubGlobal('navigator', { language: 'en' });

const braces = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([all]) => all).sort();

describe('the dictionaries', () => {
  test('have the same keys', () => {
    expect(Object.keys(ja).sort()).toEqual(Object.keys(en).sort());
  });

  test('have the same placeholders', () => {
    const keys = Object.keys(en) as (keyof typeof en)[];
    expect(keys.filter((key) => String(braces(ja[key])) !== String(braces(en[key])))).toEqual([]);
  });

  test('contain no untranslated texts', () => {
    const latin = Object.entries(ja).filter(
      // Host names are the same in all languages.
      ([key, text]) =>
        text === en[key as keyof typeof en] && /[a-z]{4}/.test(text) && !/^(host|account\.site)\./.test(key),
    );
    expect(latin).toEqual([]);
  });
});
