// Client-side state of topics, and the application of deltas to it, without mutation.
import type * as wire from '../api/wire';
import type { NodeId, ProcessId } from './ids';

/** A game with its nodes by id. */
export type Game = Omit<wire.GameState, 'nodes'> & { root: NodeId; nodes: Map<NodeId, wire.Node> };

/** A log with the number of skipped lines. */
export type Log = { process: ProcessId; lines: wire.LogLine[]; total: number; skipped: number };

/** The client-side state of a topic. */
export type Model =
  | { kind: 'games'; state: wire.GamesState }
  | { kind: 'engines'; state: wire.EnginesState }
  | { kind: 'matches'; state: wire.MatchesState }
  | { kind: 'jobs'; state: wire.JobsState }
  | { kind: 'settings'; state: wire.Settings }
  | { kind: 'game'; state: Game }
  | { kind: 'analysis'; state: wire.AnalysisState }
  | { kind: 'log'; state: Log }
  | { kind: 'match'; state: wire.MatchState }
  | { kind: 'report'; state: wire.ReportState };

export type StateOf<K extends Model['kind']> = Extract<Model, { kind: K }>['state'];

const LOG_KEPT = 4000;
const GAMES_KEPT = 500;
const EVENTS_KEPT = 200;
/** A chart cannot show more points. */
const POINTS_KEPT = 800;

/**
 * Rebases the clocks to the local time of receipt, as the clock of the server may differ.
 */
function rebased<P extends { clocks: wire.ClockState | null } | null>(play: P, now: number): P {
  return play?.clocks ? { ...play, clocks: { ...play.clocks, sent_at: now } } : play;
}

/** Converts a snapshot received now. */
export function fromState(state: wire.TopicState, now: number): Model {
  switch (state.kind) {
    case 'game': {
      const { nodes: list, play, ...rest } = state.state;
      const nodes = new Map(list.map((node) => [node.id, node]));
      return { kind: 'game', state: { ...rest, play: rebased(play, now), root: list[0]?.id ?? 0, nodes } };
    }
    case 'log':
      return { kind: 'log', state: { ...state.state, skipped: 0 } };
    case 'match': {
      const boards = state.state.boards.map((board) => rebased(board, now));
      return { kind: 'match', state: { ...state.state, boards } };
    }
    default:
      return state;
  }
}

/** Applies a delta received now. */
export function applyDelta(model: Model, delta: wire.Delta, now: number): Model {
  switch (delta.kind) {
    case 'games':
      if (model.kind !== 'games') return model;
      return {
        kind: 'games',
        state: { games: merge(model.state.games, delta.delta.changed, delta.delta.removed, true) },
      };
    case 'matches':
      if (model.kind !== 'matches') return model;
      return {
        kind: 'matches',
        state: { matches: merge(model.state.matches, delta.delta.changed, delta.delta.removed, true) },
      };
    case 'jobs':
      if (model.kind !== 'jobs') return model;
      return {
        kind: 'jobs',
        state: { jobs: merge(model.state.jobs, delta.delta.changed, delta.delta.removed, true) },
      };
    case 'settings':
      return { kind: 'settings', state: delta.delta };
    case 'engines': {
      if (model.kind !== 'engines') return model;
      const { engines, removed, processes, forgotten, search } = delta.delta;
      return {
        kind: 'engines',
        state: {
          ...model.state,
          engines: merge(model.state.engines, engines, removed, false),
          processes: merge(model.state.processes, processes, forgotten, false),
          search: search ?? model.state.search,
        },
      };
    }
    case 'game':
      return model.kind === 'game'
        ? { kind: 'game', state: applyGame(model.state, delta.delta, now) }
        : model;
    case 'analysis':
      if (model.kind !== 'analysis') return model;
      return { kind: 'analysis', state: { engines: mergeAnalyses(model.state.engines, delta.delta) } };
    case 'log':
      if (model.kind !== 'log') return model;
      return {
        kind: 'log',
        state: {
          ...model.state,
          lines: [...model.state.lines, ...delta.delta.lines].slice(-LOG_KEPT),
          total: delta.delta.total,
          skipped: model.state.skipped + delta.delta.skipped,
        },
      };
    case 'match':
      return model.kind === 'match'
        ? { kind: 'match', state: applyMatch(model.state, delta.delta, now) }
        : model;
    case 'report':
      return model.kind === 'report'
        ? { kind: 'report', state: applyReport(model.state, delta.delta) }
        : model;
  }
}

function merge<T extends { id: number }>(old: T[], changed: T[], removed: number[], newFirst: boolean): T[] {
  const fresh = new Map(changed.map((item) => [item.id, item]));
  const removedIds = new Set(removed);
  const merged: T[] = [];
  for (const item of old) {
    if (removedIds.has(item.id)) continue;
    merged.push(fresh.get(item.id) ?? item);
    fresh.delete(item.id);
  }
  const added = [...fresh.values()];
  return newFirst ? [...added.toReversed(), ...merged] : [...merged, ...added];
}

function mergeAnalyses(old: wire.EngineAnalysis[], delta: wire.AnalysisDelta): wire.EngineAnalysis[] {
  const fresh = new Map(delta.engines.map((one) => [one.engine, one]));
  const merged: wire.EngineAnalysis[] = [];
  for (const one of old) {
    if (delta.removed.includes(one.engine)) continue;
    merged.push(fresh.get(one.engine) ?? one);
    fresh.delete(one.engine);
  }
  return [...merged, ...fresh.values()];
}

function applyGame(game: Game, delta: wire.GameDelta, now: number): Game {
  const next: Game = { ...game };
  if (delta.nodes?.length || delta.removed?.length) {
    const nodes = new Map(game.nodes);
    for (const id of delta.removed ?? []) removeBelow(nodes, id);
    for (const node of delta.nodes ?? []) nodes.set(node.id, node);
    next.nodes = nodes;
  }
  if (delta.headers) next.headers = delta.headers;
  if (delta.ratings) next.ratings = delta.ratings;
  if (delta.at) {
    next.cursor = delta.at.cursor;
    next.position = delta.at.position;
    next.opening = delta.at.opening;
  }
  if (delta.outcome_change) next.outcome = delta.outcome_change.outcome;
  if (delta.play) next.play = rebased(delta.play, now);
  if (delta.undo) next.undo = delta.undo;
  if (delta.save_status) next.save_error = delta.save_status.error;
  return next;
}

function removeBelow(nodes: Map<NodeId, wire.Node>, top: NodeId) {
  const open = [top];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    open.push(...(nodes.get(id)?.children ?? []));
    nodes.delete(id);
  }
}

/** Evenly distributed points of a long curve, and its last one. */
export function thinned<T>(curve: T[]): T[] {
  if (curve.length <= POINTS_KEPT) return curve;
  // Half of them, so that points arrive for a while before the next time.
  const stride = Math.ceil((2 * curve.length) / POINTS_KEPT);
  return curve.filter((_, index) => index % stride === 0 || index === curve.length - 1);
}

function applyMatch(match: wire.MatchState, delta: wire.MatchDelta, now: number): wire.MatchState {
  const fresh = new Map(delta.boards.map((board) => [board.board, rebased(board, now)]));
  const boards: wire.MatchBoard[] = [];
  for (const board of match.boards) {
    if (delta.ended.includes(board.board)) continue;
    boards.push(fresh.get(board.board) ?? board);
    fresh.delete(board.board);
  }
  boards.push(...fresh.values());
  return {
    ...match,
    ...delta.score,
    status: delta.status ?? match.status,
    curve: thinned([...match.curve, ...delta.curve]),
    takes_curve: thinned([...match.takes_curve, ...delta.takes_curve]),
    log: [...match.log, ...delta.log].slice(-EVENTS_KEPT),
    boards: boards.filter((board) => !delta.ended.includes(board.board)),
    games: [...match.games, ...delta.games].slice(-GAMES_KEPT),
    note: delta.note ?? match.note,
  };
}

function applyReport(report: wire.ReportState, delta: wire.ReportDelta): wire.ReportState {
  const positions = [...report.positions];
  for (const judged of delta.positions) positions[judged.ply] = judged;
  return {
    ...report,
    status: delta.status,
    done: delta.done,
    positions,
    sides: delta.sides,
    error: delta.error,
  };
}
