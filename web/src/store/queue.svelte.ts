// The match queue of the server: polled while it is shown.
import { get, post, upload } from './http';
import { RequestError } from './connection';
import { showError } from './server.svelte';

export type Phase = 'running' | 'paused' | 'stopping' | 'orphaned' | 'finished';

export interface Score {
  wins: number;
  draws: number;
  losses: number;
  /** LL, LD, WL, DD, WD, WW. */
  pairs: [number, number, number, number, number, number];
}

export interface Flag {
  kind: 'results' | 'time-losses' | 'crashes' | 'speed' | 'invalid';
  p?: number;
  ratio?: number;
  count?: number;
}

export interface WorkerRow {
  worker: string;
  pairs: number;
  games: number;
  pentanomial: number[];
  time_losses: number;
  crashes: number;
  invalid: number;
  nps: number | null;
  flags: Flag[];
}

export interface QueueStatus {
  total: number;
  pairs: number;
  games: number;
  scores: Score[];
  test: { llr: number; lower: number; upper: number; verdict: string } | null;
  elo: { elo: number | null; error: number | null } | null;
  invalid: number;
  end: { kind: string; verdict?: string; text?: string } | null;
  updated_ms: number;
  /** In overviews: the number of anomalous workers. */
  flagged?: number;
}

export interface QueueDetails extends QueueStatus {
  curve: { pairs: number; elo: number | null; error: number | null; llr: number | null }[];
  workers: WorkerRow[];
  quarantine: { worker: string; index: number; why: string; at_ms: number }[];
  warnings: string[];
}

export interface QueueMatch<S = QueueStatus> {
  id: string;
  name: string;
  phase: Phase;
  created_ms: number;
  control: { priority: number; paused: boolean; stop: boolean; excluded: string[] };
  coordinator?: string;
  status: S;
}

export interface Plan {
  game: string;
  event: string;
  rounds: number;
  seed: number;
  engines: { name: string; options?: Record<string, string>; limits: { tc?: string } }[];
  sprt?: { elo0: number; elo1: number };
}

export interface QueueMatchDetails extends QueueMatch<QueueDetails> {
  plan: Plan;
  writable: boolean;
}

export interface QueueWorker {
  name: string;
  version: string;
  system: string;
  cores: number;
  slots: number;
  speed: number;
  started_ms: number;
  activity: 'playing' | 'idle' | 'leaving';
  playing: { match: string; pair: number; since_ms: number }[];
  finished: number;
  rejected: { match: string; why: string }[];
}

export interface Overview {
  server: string;
  writable: boolean;
  open: QueueMatch[];
  finished: QueueMatch[];
  workers: QueueWorker[];
}

export interface CloneChanges {
  name: string;
  rounds: number;
  tc: string | null;
  sprt: [number, number] | null;
  priority: number;
  options: Record<string, string>[];
}

export type QueueAction =
  | { action: 'pause' | 'resume' | 'stop' | 'start' | 'remove' }
  | { action: 'priority'; priority: number }
  | { action: 'exclude' | 'include'; worker: string }
  | ({ action: 'clone' } & CloneChanges);

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
    available.queue = (await get<Overview | null>('queue')) !== null;
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

interface OpeningFiles {
  files: string[];
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
    return (await post<{ id: string }>('queue', { text, openings: openings || null })).id;
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/** Changes a match. Returns the match to show next. */
export async function change(id: string, action: QueueAction): Promise<string | undefined> {
  try {
    return (await post<{ id: string }>(`queue/${id}`, action)).id;
  } catch (error) {
    showError(error);
    return undefined;
  }
}
