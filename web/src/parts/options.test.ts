import { expect, test } from 'vitest';
import type { EngineOption } from '../api/wire';
import { labelOf } from './options';

test('falls back from the language to English and to the name', () => {
  const option = (labels: EngineOption['labels']) => ({ name: 'Threads', labels }) as EngineOption;
  expect(labelOf(option({ en: 'Processors', ja: 'スレッド数' }), 'ja')).toBe('スレッド数');
  expect(labelOf(option({ en: 'Processors', ja: 'スレッド数' }), 'en')).toBe('Processors');
  expect(labelOf(option({ en: 'Processors' }), 'ja')).toBe('Processors');
  // A label equal to the name is not sent.
  expect(labelOf(option({ ja: 'スレッド数' }), 'en')).toBe('Threads');
});
