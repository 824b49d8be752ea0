// What the current page adds to the head of the window.
import type { Snippet } from 'svelte';

export interface HeadParts {
  /** After the title. */
  start?: Snippet;
  /** At the right edge, such as the main action. */
  end?: Snippet;
}

class Head {
  parts = $state.raw<HeadParts>({});
}

export const head = new Head();

/** Adds to the head for the lifetime of the component. */
export function headParts(parts: () => HeadParts) {
  $effect(() => {
    const own = parts();
    head.parts = own;
    return () => {
      if (head.parts === own) head.parts = {};
    };
  });
}
