// Requests about the position on the board.
import { errorText } from '../i18n/format';
import { RequestError } from './connection';
import { post } from './http';

/** Milliseconds without a change before a request is sent. */
const DELAY = 100;

export interface Lookup<T> {
  /** The answer for the current query, never that for an earlier one. */
  readonly value: T | null;
  readonly error: string;
}

/** Requests an answer whenever the query changes. Must be called while a component is initialized. */
export function lookup<T>(path: string, query: () => object | null): Lookup<T> {
  let value = $state.raw<T | null>(null);
  let error = $state('');
  const body = $derived(JSON.stringify(query()));
  $effect(() => {
    const sent = body;
    value = null;
    error = '';
    if (sent === 'null') return;
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await post<T>(path, JSON.parse(sent));
        if (current) value = answer;
      } catch (failure) {
        if (current) error = failure instanceof RequestError ? errorText(failure.details) : String(failure);
      }
    }, DELAY);
    return () => {
      current = false;
      clearTimeout(timer);
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
