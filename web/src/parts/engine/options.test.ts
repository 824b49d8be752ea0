import { expect, test } from 'vitest';
import type { EngineOption } from '../../api/wire';
import { labelOf, resourcesText } from './options';

test('falls back from the language to English and to the name', () => {
  const option = (labels: EngineOption['labels']) => ({ name: 'Threads', labels }) as EngineOption;
  expect(labelOf(option({ en: 'CPU threads', ja: 'スレッド数' }), 'ja')).toBe('スレッド数');
  expect(labelOf(option({ en: 'CPU threads', ja: 'スレッド数' }), 'en')).toBe('CPU threads');
  expect(labelOf(option({ en: 'CPU threads' }), 'ja')).toBe('CPU threads');
  // A label equal to the name is not sent.
  expect(labelOf(option({ ja: 'スレッド数' }), 'en')).toBe('Threads');
});

test('shows the values of threads and hash', () => {
  expect(resourcesText({ Hash: '512', MultiPV: '3', Threads: '4' })).toBe('Threads 4 · Hash 512');
  expect(resourcesText({ USI_Hash: '256' })).toBe('USI_Hash 256');
});
