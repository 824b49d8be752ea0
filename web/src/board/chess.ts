// Chess on chessground.
import { Chessground } from '@lichess-org/chessground';
import type { Config } from '@lichess-org/chessground/config';
import type { Key } from '@lichess-org/chessground/types';
import type { Side } from '../api/wire';
import type { Board, Hands, View } from './board';

const color = (side: Side) => (side === 'first' ? 'white' : 'black');

export function chessBoard(element: HTMLElement, hands: Hands): Board {
  const api = Chessground(element, {
    coordinates: false,
    disableContextMenu: true,
    drawable: { enabled: false, visible: false },
    animation: { duration: 160 },
    movable: { free: false, rookCastle: true },
    premovable: { enabled: false },
    draggable: { showGhost: true },
    events: { select: () => queueMicrotask(() => hands.picked(api.state.selected ?? null)) },
  });

  return {
    show(view) {
      api.set(config(view));
    },
    press(square) {
      api.selectSquare(square as Key);
      hands.picked(api.state.selected ?? null);
    },
    cancel() {
      api.cancelPremove();
      api.selectSquare(null);
      hands.picked(null);
    },
    playPremove: () => void api.playPremove(),
    cancelPremove: () => api.cancelPremove(),
    destroy: () => api.destroy(),
  };

  function config(view: View): Config {
    const movable =
      view.movable === null ? undefined : view.movable === 'both' ? 'both' : color(view.movable);
    return {
      fen: view.text,
      turnColor: color(view.turn),
      orientation: color(view.orientation),
      lastMove: view.last as Key[],
      check: view.check !== null && color(view.turn),
      animation: { enabled: view.animate },
      viewOnly: view.movable === null,
      movable: {
        color: movable,
        dests: view.dests as Map<Key, Key[]>,
        events: { after: (from, to, { premove }) => hands.moved(from, to, premove) },
      },
      premovable: { enabled: view.premove },
    };
  }
}
