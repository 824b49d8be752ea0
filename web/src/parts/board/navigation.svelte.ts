// Steps through a game. A cursor that is requested counts until the server confirms it.
import type { EngineAnalysis } from '../../api/wire';
import { untrack } from 'svelte';
import { innerWidth } from 'svelte/reactivity/window';
import type { Game } from '../../store/apply';
import type { GameId, NodeId } from '../../store/ids';
import { cursorToRestore, storeCursor } from '../../store/ownCursor';
import { request } from '../../store/server.svelte';
import { step, type Step } from '../../store/tree';

/** Up to this width a page has one column, which scrolls. */
export const PHONE = 720;

/** `analyses` are the engines that follow this browser tab. */
export function navigation(current: () => Game | undefined, analyses: () => EngineAnalysis[]) {
  let requested = $state<NodeId | null>(null);
  /** Turns of the wheel that are less than a step. */
  let turned = 0;
  let restored: GameId | null = null;

  $effect(() => {
    if (current()?.cursor === requested) requested = null;
  });

  function goTo(node: NodeId) {
    const game = current();
    if (!game || node === (requested ?? game.cursor)) return;
    requested = node;
    request({ kind: 'go_to', game: game.id, node }).catch(() => {
      requested = null;
    });
  }

  // A reload returns to the place of this browser tab.
  $effect(() => {
    const shown = current();
    if (!shown) {
      restored = null;
      return;
    }
    untrack(() => {
      const node = restored === shown.id ? null : cursorToRestore(shown);
      restored = shown.id;
      if (node === null) storeCursor(shown);
      else goTo(node);
    });
  });

  function walk(how: Step) {
    const game = current();
    if (game) goTo(step(game, requested ?? game.cursor, how));
  }

  function wheel(event: WheelEvent) {
    if (event.ctrlKey || (innerWidth.current ?? 0) <= PHONE) return;
    event.preventDefault();
    // Lines and pages instead of pixels in some browsers.
    turned += event.deltaMode === 0 ? event.deltaY : Math.sign(event.deltaY) * 100;
    if (Math.abs(turned) < 40) return;
    walk(turned > 0 ? 'next' : 'back');
    turned = 0;
  }

  // Engines analyze the position of the browser tab that is used.
  function onfocus() {
    const game = current();
    if (!game || requested !== null) return;
    const { cursor } = game;
    if (analyses().some((panel) => panel.node !== cursor && !panel.settings.locked))
      void request({ kind: 'go_to', game: game.id, node: cursor }).catch(() => {});
  }
  $effect(() => {
    addEventListener('focus', onfocus);
    return () => removeEventListener('focus', onfocus);
  });

  return {
    goTo,
    walk,
    wheel,
    get pending() {
      return requested !== null;
    },
  };
}
