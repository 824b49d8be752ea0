// Keeps the game of the page open: on the next visit, and when it was closed elsewhere.
import { untrack } from 'svelte';
import type { Settings } from '../../api/wire';
import { go } from '../../app/route.svelte';
import type { Game } from '../../store/apply';
import { rememberGame } from '../../store/commands.svelte';
import type { GameId } from '../../store/ids';
import { request } from '../../store/server.svelte';

interface Place {
  page: 'play' | 'analyse';
  id: GameId | null;
  settings: Settings | undefined;
}

export function keepOpen(topic: { value: Game | undefined; closed: boolean }, current: () => Place) {
  let remembered: GameId | null = null;
  $effect(() => {
    const { settings } = current();
    const game = topic.value?.id;
    if (game === undefined || !settings || game === remembered) return;
    remembered = game;
    untrack(() => rememberGame(settings, game));
  });

  // A closed game is opened from the library.
  $effect(() => {
    const { id, page } = current();
    if (!topic.closed || id === null) return;
    request({ kind: 'open_game', game: id }).then(
      (answer) => {
        if (answer.kind === 'game') reopen(page, answer.game);
      },
      () => go('play', null, 'new'),
    );
  });

  function reopen(page: 'play' | 'analyse', opened: GameId) {
    // Subscribes to the topic again at the same address.
    go(page, null, 'new');
    setTimeout(() => go(page, opened), 0);
  }
}
