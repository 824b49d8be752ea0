// The match queue of the server: polled while it is shown.
import type { NewQueueMatch, OpeningFiles, QueueAction, QueuedId, QueueOverview } from '../api/wire';
import { get, post, upload } from './http';
import { RequestError } from './connection';
import { showError } from './server.svelte';

/** Milliseconds between two requests. */
const INTERVAL = 2000;

class Availability {
  /** Whether the server has a queue. */
  queue = $state(false);
}

export const available = new Availability();

/** Determines whether the server has a queue. */
export async function checkQueue(): Promise<void> {
  try {
    available.queue = (await get<QueueOverview | null>('queue')) !== null;
  } catch {
    available.queue = false;
  }
}

/** The latest value of a path, for the lifetime of the component. */
export function polled<T>(path: () => string, query: () => Record<string, string> = () => ({})) {
  let value = $state.raw<T | undefined>();
  let failed = $state(false);
  let run = 0;
  async function read(at: string, text: Record<string, string>, current: number) {
    try {
      const result = await get<T>(at, text);
      if (current === run) [value, failed] = [result, false];
    } catch (error) {
      if (current !== run) return;
      if (!failed && !(error instanceof RequestError && error.details.error.code === 'system'))
        showError(error);
      failed = true;
    }
  }
  $effect(() => {
    const [at, text] = [path(), query()];
    run += 1;
    const current = run;
    void read(at, text, current);
    const timer = setInterval(() => void read(at, text, current), INTERVAL);
    return () => clearInterval(timer);
  });
  return {
    get value() {
      return value;
    },
    get failed() {
      return failed;
    },
  };
}

/** The names of the uploaded files of openings. */
export async function openingFiles(): Promise<string[]> {
  try {
    return (await get<OpeningFiles>('queue/openings')).files;
  } catch (error) {
    showError(error);
    return [];
  }
}

/** Stores files of openings on the server. Returns the names of all files, or nothing after an error. */
export async function addOpenings(files: Iterable<File>): Promise<string[] | undefined> {
  let names: string[] | undefined;
  try {
    for (const file of files)
      names = (await upload<OpeningFiles>('queue/openings', { name: file.name }, file)).files;
  } catch (error) {
    showError(error);
  }
  return names;
}

/** Starts a match from a command or a plan, with an uploaded file of openings, if any. Returns its identifier. */
export async function startTest(text: string, openings: string): Promise<string | undefined> {
  try {
    const wanted: NewQueueMatch = { text, openings: openings || null };
    return (await post<QueuedId>('queue', wanted)).id;
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/** Changes a match. Returns the match to show next. */
export async function change(id: string, action: QueueAction): Promise<string | undefined> {
  try {
    return (await post<QueuedId>(`queue/${id}`, action)).id;
  } catch (error) {
    showError(error);
    return undefined;
  }
}
