// Settings of the user and of analyses, with changes that the server has not confirmed yet.
import type { AnalysisSettings, EngineAnalysis, Settings } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import { act, request } from './server.svelte';
import type { GameId } from './ids';

const pendingSettings = new PendingCommands<Settings>();

/** The settings last requested by this tab. */
export function latestSettings(confirmed: Settings): Settings {
  return pendingSettings.latest('', confirmed);
}

/** Changes some settings. Fails with `RequestError`. */
export function changeSettings(confirmed: Settings, change: Partial<Settings>): Promise<void> {
  const settings = { ...latestSettings(confirmed), ...change };
  return pendingSettings.track('', settings, request({ kind: 'set_settings', settings }));
}

class Current {
  /** The game that this browser tab has displayed last. */
  game = $state<GameId | null>(null);
}

const current = new Current();

/** The game that the pages of games display by default: that of this browser tab, or else the latest one. */
export function currentGame(confirmed: Settings | undefined): GameId | null {
  return current.game ?? (confirmed ? latestSettings(confirmed).current_game : null);
}

/** Stores the game that is shown when a page of games is opened next. */
export function rememberGame(confirmed: Settings | undefined, game: GameId) {
  current.game = game;
  if (!confirmed || latestSettings(confirmed).current_game === game) return;
  changeSettings(confirmed, { current_game: game }).catch(() => {});
}

const pendingAnalyses = new PendingCommands<AnalysisSettings>();
const key = (game: GameId, analysis: EngineAnalysis) => `${game}/${analysis.engine}`;

/** The settings of an analysis last requested by this tab. */
export function analysisSettings(game: GameId, analysis: EngineAnalysis): AnalysisSettings {
  return pendingAnalyses.latest(key(game, analysis), analysis.settings);
}

/** Changes the settings of an analysis. */
export function setAnalysis(game: GameId, analysis: EngineAnalysis, settings: AnalysisSettings) {
  void pendingAnalyses.track(
    key(game, analysis),
    settings,
    act({ kind: 'analyse', game, engine: analysis.engine, settings }),
  );
}
