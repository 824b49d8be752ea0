// Values sent by this tab and not yet confirmed; further changes are based on them.
import { SvelteMap } from 'svelte/reactivity';

export class PendingCommands<T> {
  #open = new SvelteMap<string, { value: T; requests: number }>();

  /** The value last requested, or `confirmed` without open requests. */
  latest(of: string, confirmed: T): T {
    return this.#open.get(of)?.value ?? confirmed;
  }

  /** Stores a value until its request and all later ones are completed. */
  async track(of: string, value: T, request: Promise<unknown>): Promise<void> {
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
