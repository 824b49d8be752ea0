// The declaration of the settings of appearance, for their page and the command palette.
import type { Key } from '../i18n/en';
import { known, t } from '../i18n/index.svelte';
import { chessBoard, chessPieces, shogiBoard, type Prefs } from './prefs.svelte';
import { CHESS_BOARDS, CHESS_SETS, SHOGI_BOARDS, SHOGI_SETS } from './sets';

export interface Choice {
  name: keyof Prefs;
  label: Key;
  /** Values with their labels, or with names in their own language. */
  values: readonly (readonly [value: string, label: string])[];
  /** The value in effect, if another one can be stored. */
  current?: () => string;
}

export const CHOICES: readonly Choice[] = [
  {
    name: 'theme',
    label: 'settings.theme',
    values: [
      ['auto', 'settings.theme.auto'],
      ['light', 'settings.theme.light'],
      ['dark', 'settings.theme.dark'],
      ['contrast', 'settings.theme.contrast'],
    ],
  },
  {
    name: 'language',
    label: 'settings.language',
    values: [
      ['', 'settings.language.auto'],
      ['en', 'English'],
      ['ja', '日本語'],
    ],
  },
  {
    name: 'notation',
    label: 'settings.notation',
    values: [
      ['auto', 'settings.notation.auto'],
      ['western', 'settings.notation.western'],
      ['japanese', 'settings.notation.japanese'],
    ],
  },
  {
    name: 'coordinates',
    label: 'settings.coordinates',
    values: [
      ['inside', 'settings.coordinates.inside'],
      ['off', 'settings.coordinates.off'],
    ],
  },
];

/** The sets of pieces and the boards, which the page of settings shows as pictures. */
export const SETS: readonly Choice[] = [
  {
    name: 'chessPieces',
    label: 'settings.chess_pieces',
    values: CHESS_SETS.map((value) => [value, `settings.chess_pieces.${value}`]),
    current: chessPieces,
  },
  {
    name: 'chessBoard',
    label: 'settings.chess_board',
    values: CHESS_BOARDS.map((value) => [value, `settings.board.${value}`]),
    current: chessBoard,
  },
  {
    name: 'shogiPieces',
    label: 'settings.pieces',
    values: [
      ['', 'settings.language.auto'],
      ...SHOGI_SETS.map((value) => [value, `settings.pieces.${value}`] as const),
    ],
  },
  {
    name: 'shogiBoard',
    label: 'settings.shogi_board',
    values: SHOGI_BOARDS.map((value) => [value, `settings.board.${value}`]),
    current: shogiBoard,
  },
];

export const SWITCHES: readonly [name: keyof Prefs, label: Key][] = [
  ['figurines', 'settings.figurines'],
  ['animation', 'settings.animation'],
  ['arrows', 'settings.arrows'],
  ['evalbar', 'settings.evalbar'],
  ['sound', 'settings.sound'],
  ['opponentInfo', 'settings.opponent_info'],
  ['announce', 'settings.announce'],
];

export const valueLabel = (label: string) => (known(label) ? t(label) : label);
