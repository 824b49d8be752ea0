// Texts and places of games in lists.
import type { LibraryGame } from '../../api/wire';
import { openingText } from '../../i18n/openingText.svelte';
import { routeText } from '../../app/route.svelte';
import { language } from '../../app/prefs.svelte';
import { ofVariant, t } from '../../i18n/index.svelte';

/** Full moves of chess, plies of shogi. */
export const moveCount = (game: LibraryGame) =>
  game.variant === 'shogi' ? game.plies : Math.ceil(game.plies / 2);

export const playersText = (game: LibraryGame) => `${game.names.first || '?'} – ${game.names.second || '?'}`;

export const resultText = (result: string) => result.replaceAll('1/2', '½').replace('-', '–');

/** The ECO code and the name of the opening. */
export function openingOf(game: LibraryGame): { eco: string; name: string } {
  const text = game.opening ?? '';
  const [, eco, name = ''] = /^([A-E]\d\d)(?: (.*))?$/.exec(text) ?? [];
  return eco === undefined ? { eco: '', name: openingText(text) } : { eco, name: openingText(name) };
}

export function terminationText(game: LibraryGame): string {
  // Most records contain no reason.
  if (game.termination === null || game.termination === 'other') return '';
  return t(ofVariant(`termination.${game.termination}`, game.variant));
}

/** The address of the board of a game. A game that is not open is opened there. */
export const boardOf = (game: number) => routeText('analyse', game);

/** All digits of a count. */
export const numberText = (count: number) => count.toLocaleString(language());
