// Matches: local ones over the connection of the tab, those of the queue by requests while they are shown. Readers have no
// connection, and request all of them.
import type {
  DownloadAddress,
  MatchesState,
  MatchState,
  NewQueueMatch,
  OpeningFiles,
  ProposalAction,
  QueueAction,
  QueuedId,
  QueueMatch,
  QueueOverview,
  QueuePlan,
} from '../api/wire';
import { get, post, upload } from './http';
import { RequestError } from './connection';
import type { MatchId } from './ids';
import { attempt, follow, showError } from './server.svelte';
import { isReader } from './session';

/** The list of local matches. */
export const localMatches = () =>
  isReader() ? polled<MatchesState>(() => 'matches') : follow('matches', () => 'matches');

/** A local match. */
export const localMatch = (id: () => MatchId) =>
  isReader() ? polled<MatchState>(() => `matches/${id()}`) : follow('match', () => `match/${id()}`);

/** The matches and workers of the queue; null without a queue. */
export const queueOverview = (search: () => string) =>
  polled<QueueOverview | null>(
    () => (available.queue || isReader() ? 'queue' : null),
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
function polled<T>(path: () => string | null, query: () => Record<string, string> = () => ({})) {
  let value = $state.raw<T | undefined>();
  let failed = $state(false);
  let closed = $state(false);
  let run = 0;
  async function read(at: string, text: Record<string, string>, current: number) {
    try {
      const result = await get<T>(at, text);
      if (current === run) [value, failed, closed] = [result, false, false];
    } catch (error) {
      if (current !== run) return;
      if (error instanceof RequestError && error.details.error.code === 'not_found') {
        [value, closed] = [undefined, true];
        return;
      }
      if (!failed && !(error instanceof RequestError && error.details.error.code === 'system'))
        showError(error);
      failed = true;
    }
  }
  $effect(() => {
    const [at, text] = [path(), query()];
    run += 1;
    const current = run;
    if (at === null) return undefined;
    void read(at, text, current);
    const timer = setInterval(() => void read(at, text, current), INTERVAL);
    return () => clearInterval(timer);
  });
  return {
    get value() {
      return value;
    },
    /** Whether the server does not answer; the value is the latest one. */
    get failed() {
      return failed;
    },
    /** Whether it does not exist. */
    get closed() {
      return closed;
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

/** Starts a match on the queue, or lets it wait for approval. */
export const startTest = (wanted: NewQueueMatch) => attempt(() => post<QueuedId>('queue', wanted));

/** The plan of a match of the queue, for a copy. */
export const queuePlan = (id: string) => attempt(() => get<QueuePlan>(`queue/${id}/plan`));

/** Approves or removes a test that waits. Returns the match that was started, or the number of the test. */
export async function decide(id: number, action: ProposalAction): Promise<string | undefined> {
  return (await attempt(() => post<QueuedId>(`queue/proposals/${id}`, action)))?.id;
}

/** Changes a match. Returns whether that has succeeded. */
export async function change(id: string, action: QueueAction): Promise<boolean> {
  return (await attempt(() => post<QueuedId>(`queue/${id}`, action))) !== undefined;
}

/** A match with files. */
export interface FileOwner {
  source: 'local' | 'farm';
  id: string;
}

const filesOf = ({ source, id }: FileOwner) => `${source === 'local' ? 'matches' : 'queue'}/${id}`;

/** The record of a game, by its number in the match. */
export const gamePath = (of: FileOwner) => `${filesOf(of)}/files/games`;

/**
 * Downloads a file of a match; a report opens in a new tab. Neither can authenticate, and files may be too large for the
 * memory of the page: their address is temporary.
 */
export async function downloadFile(of: FileOwner, file: 'games' | 'results' | 'report', game?: number) {
  // A browser blocks new tabs that no click has opened.
  const tab = file === 'report' ? window.open('', '_blank') : null;
  const query: Record<string, string> = game === undefined ? {} : { game: String(game) };
  const found = await attempt(() => get<DownloadAddress>(`${filesOf(of)}/addresses/${file}`, query));
  if (!found) return tab?.close();
  const address = new URL(found.address, document.baseURI).href;
  if (tab) tab.location.href = address;
  else {
    const link = document.createElement('a');
    link.href = address;
    link.download = '';
    link.click();
  }
}
