import { expect, test } from 'vitest';
import type { EngineOption } from '../api/wire';
import { labelOf } from './options';

test('an option is called in the language of the page, in English, or by its name', () => {
  const option = (labels: EngineOption['labels']) => ({ name: 'Threads', labels }) as EngineOption;
  expect(labelOf(option({ en: 'Processors', ja: 'スレッド数' }), 'ja')).toBe('スレッド数');
  expect(labelOf(option({ en: 'Processors', ja: 'スレッド数' }), 'en')).toBe('Processors');
  expect(labelOf(option({ en: 'Processors' }), 'ja')).toBe('Processors');
  // A label that is the name is not sent.
  expect(labelOf(option({ ja: 'スレッド数' }), 'en')).toBe('Threads');
});
