// Requests whose answers are shown by a component.
import { post } from './http';
import { reasonOf, showError } from './server.svelte';

/** Milliseconds without a change before a request is sent. */
const DELAY = 100;

/**
 * Requests an answer about a position whenever the query changes. The value never is an answer to an earlier query,
 * whose request is aborted: the server may have to send it to another one.
 * Must be called while a component is initialized.
 */
export function lookup<T>(path: string, query: () => object | null) {
  let value = $state.raw<T | null>(null);
  let error = $state('');
  const body = $derived(JSON.stringify(query()));
  $effect(() => {
    const sent = body;
    value = null;
    error = '';
    if (sent === 'null') return;
    let current = true;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await post<T>(path, JSON.parse(sent), abort.signal);
        if (current) value = answer;
      } catch (failure) {
        if (current) error = reasonOf(failure);
      }
    }, DELAY);
    return () => {
      current = false;
      clearTimeout(timer);
      abort.abort();
    };
  });
  return {
    get value() {
      return value;
    },
    get error() {
      return error;
    },
  };
}

/**
 * The answer to the latest request, made again when what it depends on changes; an error is shown. Must be called while
 * a component is initialized.
 */
export function answerTo<T>(ask: () => Promise<T>) {
  let value = $state.raw<T | null>(null);
  $effect(() => {
    let current = true;
    ask().then(
      (found) => {
        if (current) value = found;
      },
      (error: unknown) => {
        if (current) showError(error);
      },
    );
    return () => {
      current = false;
    };
  });
  return {
    get value() {
      return value;
    },
  };
}
