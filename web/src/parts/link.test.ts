import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord, OPEN } from './link';

test('decodes the record of a link', async () => {
  const record = '[White "Ä"]\n\n1. e4 e5 *\n▲７六歩';
  const link = `http://127.0.0.1:7878/${OPEN}${await encodeRecord(record)}`;
  expect(link).toMatch(/#\/open\/[\w-]+$/);
  expect(await decodeRecord(link)).toBe(record);
});

test('rejects other texts, damaged links and huge records', async () => {
  expect(await decodeRecord('1. e4 e5')).toBeNull();
  expect(await decodeRecord(`${OPEN}!!!`)).toBeNull();
  expect(await decodeRecord(`${OPEN}AAAA`)).toBeNull();
  const huge = await encodeRecord(' '.repeat(1_900_000));
  expect(huge.length).toBeLessThan(10_000);
  expect((await decodeRecord(OPEN + huge))?.length).toBe(1_900_000);
});
