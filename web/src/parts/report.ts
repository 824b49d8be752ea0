// The form of report settings.
import type { EngineState, Job, ReportSettings } from '../api/wire';
import type { EngineId } from '../store/ids';

export interface ReportForm {
  /** Null for the first suitable engine. */
  engine: EngineId | null;
  /** Per position. */
  seconds: number;
  backwards: boolean;
  annotate: boolean;
}

export function blankReport(): ReportForm {
  return { engine: null, seconds: 0.5, backwards: true, annotate: true };
}

/** The settings; null without an engine. */
export function settingsOf(form: ReportForm, engines: EngineState[]): ReportSettings | null {
  const engine = engines.find((one) => one.id === form.engine) ?? engines[0];
  if (!engine) return null;
  const time = Math.max(10, Math.round((form.seconds || 0) * 1000));
  return {
    engine: engine.id,
    limits: { depth: null, nodes: null, time, mate: null },
    backwards: form.backwards,
    annotate: form.annotate,
  };
}

/** The progress of a job, 0 to 1: files first, then games. */
export function progressOf(job: Job): number {
  const part = (done: number, all: number) => (all === 0 ? 0 : Math.min(1, done / all));
  if (job.status === 'done') return 1;
  if (job.settings === null) return part(job.files_done, job.files);
  if (job.folder === null) return part(job.done, job.games);
  // Importing is fast compared with analysis.
  return 0.1 * part(job.files_done, job.files) + 0.9 * (job.done ? part(job.done, job.games) : 0);
}
