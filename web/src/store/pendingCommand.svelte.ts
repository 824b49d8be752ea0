// What this tab has asked for and the server has not answered: what comes next is made of it.
import { SvelteMap } from 'svelte/reactivity';

/** Values by what they are of. */
export class PendingCommands<T> {
  #open = new SvelteMap<string, { value: T; requests: number }>();

  /** The value that was asked for last; what the server has told if that is answered. */
  latest(of: string, told: T): T {
    return this.#open.get(of)?.value ?? told;
  }

  /** Keeps a value until its request is answered or refused, and those that came after it. */
  async keep(of: string, value: T, request: Promise<unknown>): Promise<void> {
    this.#open.set(of, { value, requests: (this.#open.get(of)?.requests ?? 0) + 1 });
    try {
      await request;
    } finally {
      const now = this.#open.get(of);
      if (now && now.requests > 1) this.#open.set(of, { ...now, requests: now.requests - 1 });
      else this.#open.delete(of);
    }
  }
}
