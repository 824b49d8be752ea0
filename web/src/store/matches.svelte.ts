// Matches: local ones over the connection of the tab, those of the queue by requests while they are shown. Both have the
// same standings, scores, curves and tests.
import type {
  NewQueueMatch,
  OpeningFiles,
  QueueAction,
  QueuedId,
  QueueMatch,
  QueueOverview,
} from '../api/wire';
import { get, post, upload } from './http';
import { RequestError } from './connection';
import type { MatchId } from './ids';
import { attempt, follow, showError } from './server.svelte';

/** The list of local matches. */
export const localMatches = () => follow('matches', () => 'matches');

/** A local match. */
export const localMatch = (id: () => MatchId) => follow('match', () => `match/${id()}`);

/** The matches and workers of the queue; null without a queue. */
export const queueOverview = (search: () => string) =>
  polled<QueueOverview | null>(
    () => 'queue',
    (): Record<string, string> => (search() ? { search: search() } : {}),
  );

/** A match of the queue. */
export const queueMatch = (id: () => string) => polled<QueueMatch>(() => `queue/${id()}`);

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
function polled<T>(path: () => string, query: () => Record<string, string> = () => ({})) {
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
  return (await attempt(() => get<OpeningFiles>('queue/openings')))?.files ?? [];
}

/** Stores files of openings on the server. Returns the names of all files, or nothing after an error. */
export async function addOpenings(files: Iterable<File>): Promise<string[] | undefined> {
  let names: string[] | undefined;
  await attempt(async () => {
    for (const file of files)
      names = (await upload<OpeningFiles>('queue/openings', { name: file.name }, file)).files;
  });
  return names;
}

/** Starts a match from a command or a plan, with an uploaded file of openings, if any. Returns its identifier. */
export async function startTest(text: string, openings: string): Promise<string | undefined> {
  const wanted: NewQueueMatch = { text, openings: openings || null };
  return (await attempt(() => post<QueuedId>('queue', wanted)))?.id;
}

/** Changes a match. Returns the match to show next. */
export async function change(id: string, action: QueueAction): Promise<string | undefined> {
  return (await attempt(() => post<QueuedId>(`queue/${id}`, action)))?.id;
}
