// One form of matches for the page, whether they are local or of the queue.
import type {
  AuditStatus,
  CurvePoint,
  EncounterScore,
  FailedBuild,
  LiveGame,
  MatchBoard,
  MatchConditions,
  MatchGame,
  MatchLine,
  MatchLogEntry,
  MatchState,
  MatchStrength,
  QueueLine,
  QueueMatch,
  QueueWorker,
  Rating,
  SprtStatus,
  Standing,
  TakesPoint,
  TakesStatus,
  TuneStatus,
  Variant,
  Verdict,
  WorkerFlag,
  WorkerRow,
} from '../../api/wire';
import { errorInfoText } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { auditsText, endText } from './texts';

/** The color of a status. */
export type Tone = 'busy' | 'good' | 'bad' | '';

/** The status of a match, with its text. */
export interface Status {
  text: string;
  tone: Tone;
  /** Whether games are played, or are about to be. */
  going: boolean;
}

/** A row of the list of matches. */
export interface Line {
  /** Local and of the queue: unique together. */
  key: string;
  source: 'local' | 'farm';
  /** The identifier in the address. */
  id: string;
  name: string;
  status: Status;
  /** The kind, such as `SPRT 0, 5`. */
  about: string;
  elo: Rating | null;
  /** Games played, and all of them; null without a limit. */
  played: number;
  total: number | null;
  /** The time of the last change of a finished match. */
  at: number | null;
  flagged: number;
}

/** A worker of a match; a local match has one without a name. */
export interface Worker {
  name: string;
  slots: number | null;
  cores: number | null;
  /** Nodes per second of its engines. */
  nps: number | null;
  row: WorkerRow | null;
  flags: WorkerFlag[];
  connected: boolean;
  excluded: boolean;
  /** Why it does not play the match. */
  rejected: string;
  system: string;
}

/** A match as its details show it. */
export interface Shown {
  source: 'local' | 'farm';
  id: string;
  name: string;
  variant: Variant;
  status: Status;
  /** Errors and hints above the results. */
  notes: { text: string; bad: boolean }[];
  conditions: MatchConditions;
  names: string[];
  pairs: number;
  played: number;
  /** The number of all games; null if it is not known. */
  total: number | null;
  standings: Standing[];
  scores: EncounterScore[];
  test: SprtStatus | null;
  strength: MatchStrength | null;
  curve: CurvePoint[];
  /** The test of several takes. */
  takes: TakesStatus | null;
  takesCurve: TakesPoint[];
  /** The values of a tuning, which has no strength. */
  tune: TuneStatus | null;
  failedBuilds: FailedBuild[];
  gamesPerMinute: number | null;
  remainingGames: number | null;
  boards: MatchBoard[];
  /** Games in progress without a board; not all of many. */
  live: LiveGame[];
  /** The number of games in progress. */
  playing: number;
  workers: Worker[];
  games: MatchGame[];
  log: MatchLogEntry[];
  /** Whether games, results and report can be downloaded. */
  downloads: boolean;
}

const verdictTone = (verdict: Verdict | null, over: Tone): Tone =>
  verdict === 'h1' ? 'good' : verdict === 'h0' ? 'bad' : over;

function localStatus({ status, verdict }: Pick<MatchLine, 'status' | 'verdict'>): Status {
  const going = status === 'running' || status === 'finishing';
  const over = status === 'over' ? verdictTone(verdict, 'good') : '';
  return {
    text: t(`match.${status}`),
    tone: going ? 'busy' : status === 'failed' ? 'bad' : over,
    going,
  };
}

function queueStatus({ phase, verdict }: Pick<QueueLine, 'phase' | 'verdict'>): Status {
  const going = phase === 'running' || phase === 'stopping';
  const over = phase === 'finished' ? verdictTone(verdict, 'good') : '';
  return { text: t(`queue.${phase}`), tone: going ? 'busy' : phase === 'orphaned' ? 'bad' : over, going };
}

function kindText(engines: number, bounds: [number, number] | null, tunes = false): string {
  if (tunes) return 'SPSA';
  if (bounds) return `SPRT ${bounds.map((elo) => String(elo).replace('-', '−')).join(', ')}`;
  return t('match.engines', { count: engines });
}

export function lineOfLocal(match: MatchLine): Line {
  return {
    key: `local ${match.id}`,
    source: 'local',
    id: String(match.id),
    name: match.name || String(match.id),
    status: localStatus(match),
    about: kindText(match.engines, match.bounds),
    elo: match.elo,
    played: match.played,
    total: match.total,
    at: null,
    flagged: 0,
  };
}

export function lineOfQueue(match: QueueLine): Line {
  return {
    key: `farm ${match.id}`,
    source: 'farm',
    id: match.id,
    name: match.name || match.id.slice(0, 8),
    status: queueStatus(match),
    about: kindText(match.engines, match.bounds, match.tunes),
    elo: match.elo,
    played: match.games,
    total: match.total || null,
    at: match.phase === 'finished' ? match.updated_ms : null,
    flagged: match.flagged,
  };
}

/** The number of pairs of the curve, or of all encounters. */
const pairsOf = ({ curve, played, conditions }: MatchState): number =>
  curve.at(-1)?.pairs ?? Math.floor(played / conditions.games_per_pair);

export function ofLocal(match: MatchState): Shown {
  const { plan, status, test, conditions, workers } = match;
  return {
    source: 'local',
    id: String(match.id),
    name: plan.name,
    variant: plan.variant,
    status: localStatus({ status, verdict: test?.verdict ?? null }),
    notes: match.note ? [{ text: errorInfoText(match.note), bad: status === 'failed' }] : [],
    conditions,
    names: match.names,
    pairs: pairsOf(match),
    played: match.played,
    total: match.total,
    standings: match.standings,
    scores: match.scores,
    test,
    strength: match.strength,
    curve: match.curve,
    takes: match.takes,
    takesCurve: match.takes_curve,
    tune: null,
    failedBuilds: [],
    gamesPerMinute: match.games_per_minute,
    remainingGames: match.remaining_games,
    boards: match.boards,
    live: [],
    playing: match.boards.length,
    workers: workers.map((row) => ({
      name: '',
      slots: conditions.source?.kind === 'local' ? conditions.source.concurrency : null,
      cores: null,
      nps: row.nps,
      row,
      flags: row.flags,
      connected: true,
      excluded: false,
      rejected: '',
      system: '',
    })),
    games: match.games,
    log: match.log,
    downloads: match.played > 0,
  };
}

/** The notes of a match of the queue. */
function queueNotes({ status, coordinator, conditions }: QueueMatch, audits: AuditStatus): Shown['notes'] {
  const [bad, other]: [string[], string[]] = [[], []];
  const add = (text: string, isBad = false) => text && (isBad ? bad : other).push(text);
  if (status.end)
    add(
      `${t('queue.end')}: ${endText(
        status.end,
        conditions.engines.map(({ name }) => name),
      )}`,
      status.end.kind === 'error',
    );
  if (coordinator) add(`${t('queue.coordinator')}: ${coordinator}`);
  if (coordinator && !status.has_verified_names) add(t('queue.unverified'));
  if (status.skipped) add(t('queue.skipped', { count: status.skipped }), true);
  if (status.ignored) add(t('queue.ignored', { count: status.ignored }));
  add(auditsText(audits));
  const line = (texts: string[], isBad: boolean) =>
    texts.length ? [{ text: texts.join(' · '), bad: isBad }] : [];
  return [...line(bad, true), ...line(other, false)];
}

/** The workers of a match: those with results, and those that play it or reject it. */
function queueWorkers(match: QueueMatch, machines: QueueWorker[]): Worker[] {
  const rows = new Map(match.status.workers.map((row) => [row.worker, row]));
  const connected = new Map(machines.map((machine) => [machine.name, machine]));
  const involved = machines.filter(
    ({ playing, rejected }) =>
      playing.some((pair) => pair.match === match.id) || rejected.some((one) => one.match === match.id),
  );
  const names = new Set([...rows.keys(), ...involved.map(({ name }) => name), ...match.control.excluded]);
  const workers = [...names].map((name): Worker => {
    const [row, machine] = [rows.get(name), connected.get(name)];
    return {
      name,
      slots: machine?.slots ?? null,
      cores: machine?.cores ?? null,
      nps: row?.nps ?? null,
      row: row ?? null,
      flags: row?.flags ?? [],
      connected: machine !== undefined,
      excluded: match.control.excluded.includes(name),
      rejected: machine?.rejected.find((one) => one.match === match.id)?.why ?? '',
      system: machine ? `${machine.system}, readyok ${machine.version}` : '',
    };
  });
  // Suspicious ones first.
  const order = (worker: Worker) => (worker.flags.length ? 0 : 1);
  return workers.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
}

export function ofQueue(match: QueueMatch, machines: QueueWorker[]): Shown {
  const { status, conditions } = match;
  const perPair = conditions.games_per_pair;
  return {
    source: 'farm',
    id: match.id,
    name: match.name,
    variant: conditions.game,
    status: queueStatus({ phase: match.phase, verdict: status.test?.verdict ?? null }),
    notes: queueNotes(match, status.audits),
    conditions,
    names: conditions.engines.map(({ name }) => name),
    pairs: status.pairs,
    played: status.games,
    total: status.total ? status.total * perPair : null,
    standings: status.standings,
    scores: status.scores,
    test: status.test,
    strength: status.strength,
    // Coordinators of earlier versions publish no values.
    curve: status.curve,
    takes: status.takes,
    takesCurve: status.takes_curve,
    tune: status.tune,
    failedBuilds: status.failed_builds,
    gamesPerMinute: match.coordinator ? status.games_per_minute : null,
    remainingGames: match.coordinator ? status.remaining_games : null,
    boards: [],
    live: status.live,
    playing: status.playing,
    workers: queueWorkers(match, machines),
    games: match.games,
    log: match.log,
    downloads: match.has_results,
  };
}
