// What engines that analyse are to do. Changes that come faster than answers are made of each other.
import type { AnalysisSettings, EngineAnalysis } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import type { GameId } from './ids';
import { act } from './server.svelte';

const asked = new PendingCommands<AnalysisSettings>();
const key = (game: GameId, lane: EngineAnalysis) => `${game}/${lane.engine}`;

/** What an engine is to do, as this tab has asked for it last. */
export function settingsOf(game: GameId, lane: EngineAnalysis): AnalysisSettings {
  return asked.latest(key(game, lane), lane.settings);
}

/** Has an engine go on with other settings. */
export function setAnalysis(game: GameId, lane: EngineAnalysis, settings: AnalysisSettings) {
  void asked.keep(key(game, lane), settings, act({ kind: 'analyse', game, engine: lane.engine, settings }));
}
