// Shogi on shogiground.
import { Shogiground } from 'shogiground';
import type { Config } from 'shogiground/config';
import type { Key, Piece, PieceName } from 'shogiground/types';
import type { Side } from '../api/wire';
import type { Board, Hands, View } from './board';
import { reach, SHOGI_LETTERS } from './reach';
import { SHOGI_ROLES } from './squares';

const color = (side: Side) => (side === 'first' ? 'sente' : 'gote');

export function shogiBoard(
  elements: { board: HTMLElement; top: HTMLElement; bottom: HTMLElement },
  hands: Hands,
): Board {
  const picked = () => queueMicrotask(() => hands.picked(choice()));
  const api = Shogiground(
    {
      coordinates: { enabled: false },
      scaleDownPieces: false,
      drawable: { enabled: false, visible: false },
      animation: { duration: 160, hands: false },
      movable: { free: false },
      droppable: { free: false },
      premovable: {
        enabled: false,
        generate: (key, pieces) => {
          const piece = pieces.get(key);
          return piece ? (reach(key, piece.role, piece.color === 'sente') as Key[]) : [];
        },
      },
      predroppable: { enabled: false, generate: (_, pieces) => squares().filter((key) => !pieces.has(key)) },
      forsyth: {
        fromForsyth: (letter) => SHOGI_ROLES[letter.toUpperCase()],
        toForsyth: (role) => SHOGI_LETTERS[role],
      },
      events: { select: picked, unselect: picked, pieceSelect: picked, pieceUnselect: picked },
    },
    { board: elements.board, hands: { top: elements.top, bottom: elements.bottom } },
  );

  return {
    show(view) {
      api.set(config(view));
    },
    press(square) {
      const drop = /^([A-Z])\*$/.exec(square)?.[1];
      if (drop) api.selectPiece({ role: SHOGI_ROLES[drop] ?? 'pawn', color: api.state.turnColor });
      else api.selectSquare(square as Key);
      hands.picked(choice());
    },
    cancel() {
      api.cancelPremove();
      api.cancelPredrop();
      api.selectSquare(null);
      api.selectPiece(null);
      hands.picked(null);
    },
    playPremove() {
      if (!api.playPremove()) api.playPredrop();
    },
    cancelPremove() {
      api.cancelPremove();
      api.cancelPredrop();
    },
    destroy: () => api.destroy(),
  };

  function choice(): string | null {
    const piece = api.state.selectedPiece;
    if (piece) return letter(piece);
    return api.state.selected ?? null;
  }

  function letter(piece: Piece): string {
    return `${SHOGI_LETTERS[piece.role]}*`;
  }

  function config(view: View): Config {
    const [board = '', , hand = '-'] = view.text.split(' ');
    const dests = new Map<Key, Key[]>();
    const drops = new Map<PieceName, Key[]>();
    for (const [from, to] of view.dests) {
      if (from.endsWith('*')) drops.set(`${color(view.turn)} ${SHOGI_ROLES[from[0] ?? '']}`, to as Key[]);
      else dests.set(from as Key, to as Key[]);
    }
    const active = view.movable === null ? undefined : view.movable === 'both' ? 'both' : color(view.movable);
    return {
      sfen: { board, hands: hand },
      turnColor: color(view.turn),
      activeColor: active,
      orientation: color(view.orientation),
      lastDests: view.last as Key[],
      checks: view.check === null ? false : [view.check as Key],
      animation: { enabled: view.animate },
      viewOnly: view.movable === null,
      movable: { dests, events: { after: (from, to, _, { premade }) => hands.moved(from, to, premade) } },
      droppable: {
        dests: drops,
        events: { after: (piece, to, _, { premade }) => hands.moved(letter(piece), to, premade) },
      },
      premovable: { enabled: view.premove },
      predroppable: { enabled: view.premove },
    };
  }
}

function squares(): Key[] {
  const all: Key[] = [];
  for (let file = 1; file <= 9; file++) for (const rank of 'abcdefghi') all.push(`${file}${rank}` as Key);
  return all;
}
