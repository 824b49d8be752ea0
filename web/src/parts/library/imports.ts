// Imports and other jobs: their names, progress and errors.
import type { EngineState, Job, JobError } from '../../api/wire';
import { errorInfoText, timeOfDayText } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { numberText } from './games';
import { progressOf } from '../report/report';

const engineName = (engines: EngineState[], id: number) =>
  engines.find((engine) => engine.id === id)?.name ?? '';

/** The last part of a path of any system. */
const fileName = (path: string) => path.split(/[\\/]/).findLast(Boolean) ?? path;

export function jobName(job: Job, engines: EngineState[]): string {
  if (job.account) return `${job.account.name} · ${t(`account.site.${job.account.site}`)}`;
  const path = job.upload ?? job.directory;
  const name = path === null ? t('library.selected', { count: job.games }) : fileName(path);
  return job.settings ? `${name} · ${engineName(engines, job.settings.engine)}` : name;
}

/** Whether a job only adds games. */
export const isImport = (job: Job) => job.settings === null;

/** The progress from 0 to 1. Null if the number of games is not known. */
export const share = (job: Job) =>
  job.account && !job.files && job.status === 'running' ? null : Math.min(1, progressOf(job));

/** Added games in a second, or null at the beginning. */
function rateOf(job: Job): number | null {
  return job.elapsed < 500 ? null : (1000 * (job.games + Number(job.duplicates))) / job.elapsed;
}

/** The seconds until the end, by the bytes so far. */
function secondsLeft(job: Job): number | null {
  if (job.elapsed < 500 || !job.bytes || job.bytes > job.total_bytes) return null;
  return (job.elapsed / 1000) * (job.total_bytes / job.bytes - 1);
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60
    ? t('time.left.seconds', { count: whole })
    : t('time.left.minutes', { count: Math.ceil(whole / 60) });
}

export function speedText(job: Job): string {
  if (job.waiting !== null) return t('job.waiting', { time: timeOfDayText(job.waiting) });
  const [rate, left] = [rateOf(job), secondsLeft(job)];
  if (rate === null) return '';
  const speed = t('job.rate', { count: numberText(Math.round(rate)) });
  return left === null ? speed : `${speed} · ${t('job.left', { time: durationText(left) })}`;
}

/** The counts of a job. */
export function countsText(job: Job): string {
  const parts = job.settings
    ? [t('job.games', { done: numberText(job.done), all: numberText(job.games) })]
    : [t('record.done', { count: numberText(job.games) })];
  if (job.files > 1) parts.unshift(t('job.files', { done: job.files_done, all: job.files }));
  if (job.duplicates) parts.push(t('record.duplicates', { count: numberText(Number(job.duplicates)) }));
  if (job.undecided) parts.push(t('record.undecided', { count: numberText(Number(job.undecided)) }));
  if (job.skipped) parts.push(t('job.skipped', { count: numberText(job.skipped) }));
  if (job.failed) parts.push(t('job.failed', { count: numberText(job.failed) }));
  return parts.join(' · ');
}

export function faultText({ of, why }: JobError, engines: EngineState[]): string {
  const subject =
    of.kind === 'file'
      ? of.name
      : of.kind === 'game'
        ? t('job.game', { number: of.game })
        : engineName(engines, of.engine);
  return `${subject}: ${errorInfoText(why)}`;
}

/** Uploads of this tab, by name. */
const uploads = new Map<string, AbortController>();

export function beginUpload(name: string): AbortController {
  const abort = new AbortController();
  uploads.set(name, abort);
  return abort;
}

/** Ends the sending of the file of a job that is cancelled. */
export function abortUpload(job: Job) {
  if (job.upload !== null) uploads.get(job.upload)?.abort();
}
