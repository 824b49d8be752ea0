// Analysis settings, with changes that the server has not confirmed yet.
import type { AnalysisSettings, EngineAnalysis } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import type { GameId } from './ids';
import { act } from './server.svelte';

const asked = new PendingCommands<AnalysisSettings>();
const key = (game: GameId, lane: EngineAnalysis) => `${game}/${lane.engine}`;

/** The settings last requested by this tab. */
export function settingsOf(game: GameId, lane: EngineAnalysis): AnalysisSettings {
  return asked.latest(key(game, lane), lane.settings);
}

/** Changes the settings of an analysis. */
export function setAnalysis(game: GameId, lane: EngineAnalysis, settings: AnalysisSettings) {
  void asked.keep(key(game, lane), settings, act({ kind: 'analyse', game, engine: lane.engine, settings }));
}
