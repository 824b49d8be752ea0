import { expect, test } from 'vitest';
import { PendingCommands } from './pendingCommand.svelte';

test('returns the last requested value until all requests are completed', async () => {
  const asked = new PendingCommands<number>();
  expect(asked.latest('a', 3)).toBe(3);
  let answer = () => {};
  let refuse = (_error: Error) => {};
  const ask = (request: Promise<void>) => asked.keep('a', asked.latest('a', 3) + 1, request);
  const first = ask(new Promise<void>((done) => (answer = done)));
  const second = ask(new Promise<void>((_, failed) => (refuse = failed)));
  expect(asked.latest('a', 3)).toBe(5);
  expect(asked.latest('b', 3)).toBe(3);
  answer();
  await first;
  // The first response precedes the second request.
  expect(asked.latest('a', 4)).toBe(5);
  refuse(new Error('refused'));
  await expect(second).rejects.toThrow('refused');
  expect(asked.latest('a', 4)).toBe(4);
});
