import { expect, test } from 'vitest';
import { PendingCommands } from './pendingCommand.svelte';

test('returns the last requested value until all requests are completed', async () => {
  const pending = new PendingCommands<number>();
  expect(pending.latest('a', 3)).toBe(3);
  let answer = () => {};
  let fail = (_error: Error) => {};
  const ask = (request: Promise<void>) => pending.track('a', pending.latest('a', 3) + 1, request);
  const first = ask(new Promise<void>((done) => (answer = done)));
  const second = ask(new Promise<void>((_, failed) => (fail = failed)));
  expect(pending.latest('a', 3)).toBe(5);
  expect(pending.latest('b', 3)).toBe(3);
  answer();
  await first;
  // The first response precedes the second request.
  expect(pending.latest('a', 4)).toBe(5);
  fail(new Error('failed'));
  await expect(second).rejects.toThrow('failed');
  expect(pending.latest('a', 4)).toBe(4);
});
