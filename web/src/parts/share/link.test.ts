import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord, isLink, OPEN } from './link';

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

test('recognizes a text that is only a link', () => {
  const links = [
    'https://lichess.org/abcd1234',
    ' http://www.chess.com/game/live/1\n',
    'lishogi.org/abcd1234',
  ];
  expect(links.map(isLink)).toEqual([true, true, true]);
  const records = ['[Site "https://lichess.org/abcd1234"]\n\n1. e4 *', 'https://lichess.org/a 1. e4', 'e4'];
  expect(records.map(isLink)).toEqual([false, false, false]);
});
