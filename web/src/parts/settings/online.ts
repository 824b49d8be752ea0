// The online services in the order of the settings.
import type { AccountSite, OnlineService, OnlineSettings } from '../../api/wire';

export const SERVICES: readonly OnlineService[] = [
  'lichess_games',
  'chesscom_games',
  'lichess_explorer',
  'lichess_tablebase',
];

export const isOn = (online: OnlineSettings | undefined, service: OnlineService) =>
  online?.services.includes(service) ?? false;

/** The service with the games of a site. */
export const gamesOf = (site: AccountSite): OnlineService =>
  site === 'lichess' ? 'lichess_games' : 'chesscom_games';
