// The form of report settings, job progress, and the mistakes of a report.
import type {
  EngineState,
  Job,
  Judged,
  Label,
  Node,
  ReportSettings,
  ReportState,
  Side,
  SideReport,
} from '../../api/wire';
import type { Key } from '../../i18n/en';
import type { EngineId, NodeId } from '../../store/ids';
import type { Game } from '../../store/apply';
import { moverOf } from '../../store/tree';

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

/** The form of the latest report; fields that are not valid have their defaults. */
export function storedForm(stored: string): ReportForm {
  const blank = blankReport();
  try {
    const { engine, seconds, backwards, annotate } = Object(
      JSON.parse(stored || '{}'),
    ) as Partial<ReportForm>;
    return {
      engine: typeof engine === 'number' ? engine : blank.engine,
      seconds: typeof seconds === 'number' && seconds > 0 ? seconds : blank.seconds,
      backwards: backwards ?? blank.backwards,
      annotate: annotate ?? blank.annotate,
    };
  } catch {
    return blank;
  }
}

export const isRunning = (report: ReportState | undefined) =>
  report?.status === 'running' || report?.status === 'queued';

/** The figures of a side, with the sign of a judgment. */
export const FIGURES: {
  label: Key;
  sign: string;
  /** Whether it is among the figures of the strip. */
  strip: boolean;
  of: (side: SideReport) => string | number;
}[] = [
  {
    label: 'report.accuracy',
    sign: '',
    strip: true,
    of: ({ accuracy }) => (accuracy === null ? '–' : `${accuracy.toFixed(1)}%`),
  },
  {
    label: 'report.acpl',
    sign: '',
    strip: false,
    of: ({ average_loss: loss }) => (loss === null ? '–' : loss.toFixed(0)),
  },
  { label: 'label.inaccuracies', sign: '?!', strip: true, of: ({ inaccuracies }) => inaccuracies },
  { label: 'label.mistakes', sign: '?', strip: true, of: ({ mistakes }) => mistakes },
  { label: 'label.blunders', sign: '??', strip: true, of: ({ blunders }) => blunders },
];

/** The progress of a job, 0 to 1: files first, then games. */
export function progressOf(job: Job): number {
  const part = (done: number, all: number) => (all === 0 ? 0 : Math.min(1, done / all));
  if (job.status === 'done') return 1;
  if (job.settings === null) {
    return job.total_bytes ? part(job.bytes, job.total_bytes) : part(job.files_done, job.files);
  }
  if (job.directory === null) return part(job.done, job.games);
  // Importing is fast compared with analysis.
  return 0.1 * part(job.files_done, job.files) + 0.9 * (job.done ? part(job.done, job.games) : 0);
}

/** A move labeled as a mistake by a report. */
export interface Mistake {
  judged: Judged;
  node: Node;
  /** The position before the mistake, and its best line. */
  before: NodeId;
  better: Judged['best'];
  side: Side;
}

const MISTAKES: Label[] = ['inaccuracy', 'mistake', 'blunder'];

export function isMistake(label: Label | null): boolean {
  return label !== null && MISTAKES.includes(label);
}

/** The mistakes of one or both sides, in order. */
export function mistakesOf(game: Game, report: ReportState | undefined, of: Side | null): Mistake[] {
  return (report?.positions ?? []).flatMap((judged) => {
    if (!judged || !isMistake(judged.label)) return [];
    const node = game.nodes.get(judged.node);
    // The game may have changed after the report.
    if (!node || node.parent === null) return [];
    const side = moverOf(game, node);
    if (of !== null && side !== of) return [];
    const better = report?.positions[judged.ply - 1]?.best ?? [];
    return [{ judged, node, before: node.parent, better, side }];
  });
}

/** The first mistake after a ply. */
export function nextMistake(mistakes: Mistake[], ply: number): Mistake | null {
  return mistakes.find((one) => one.judged.ply > ply) ?? null;
}

/** The 1-based number of the mistake at a ply. */
export function mistakeNumber(mistakes: Mistake[], ply: number): number {
  return mistakes.findIndex((one) => one.judged.ply === ply) + 1;
}
