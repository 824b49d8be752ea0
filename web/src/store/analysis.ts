// Analysis settings, with changes that the server has not confirmed yet.
import type { AnalysisSettings, EngineAnalysis } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import type { GameId } from './ids';
import { act } from './server.svelte';

const pending = new PendingCommands<AnalysisSettings>();
const key = (game: GameId, analysis: EngineAnalysis) => `${game}/${analysis.engine}`;

/** The settings last requested by this tab. */
export function settingsOf(game: GameId, analysis: EngineAnalysis): AnalysisSettings {
  return pending.latest(key(game, analysis), analysis.settings);
}

/** Changes the settings of an analysis. */
export function setAnalysis(game: GameId, analysis: EngineAnalysis, settings: AnalysisSettings) {
  void pending.track(
    key(game, analysis),
    settings,
    act({ kind: 'analyse', game, engine: analysis.engine, settings }),
  );
}
