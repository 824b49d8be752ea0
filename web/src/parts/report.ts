// The settings of a report as a form has them.
import type { EngineState, Job, ReportSettings } from '../api/wire';
import type { EngineId } from '../store/ids';

export interface ReportForm {
  /** None for the first that fits. */
  engine: EngineId | null;
  /** For each position. */
  seconds: number;
  backwards: boolean;
  annotate: boolean;
}

export function blankReport(): ReportForm {
  return { engine: null, seconds: 0.5, backwards: true, annotate: true };
}

/** The settings; none without an engine. */
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

/** How much of a job is done, 0 to 1: its files first, then its games. */
export function progressOf(job: Job): number {
  const part = (done: number, all: number) => (all === 0 ? 0 : Math.min(1, done / all));
  if (job.status === 'done') return 1;
  if (job.settings === null) return part(job.files_done, job.files);
  if (job.folder === null) return part(job.done, job.games);
  // Reading is quick beside judging.
  return 0.1 * part(job.files_done, job.files) + 0.9 * (job.done ? part(job.done, job.games) : 0);
}
