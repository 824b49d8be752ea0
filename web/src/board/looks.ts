// The rules of the sets of pieces and of the boards. Browsers load the images of the selected sets only. See LICENSES.md.
import { CHESS_SETS, SHOGI_SETS, type ChessBoard, type ShogiBoard } from '../app/sets';
import { CHESS_ROLES, SHOGI_ROLES } from './squares';

const piece = (set: string, side: string, role: string, image: string) =>
  `[data-${set}] piece.${side}.${role} { background-image: url('./pieces/${image}.svg') }`;

export const PIECE_RULES = [
  ...CHESS_SETS.flatMap((set) =>
    Object.entries(CHESS_ROLES).flatMap(([letter, role]) => [
      piece(`chess-pieces='${set}'`, 'white', role, `${set}/w${letter}`),
      piece(`chess-pieces='${set}'`, 'black', role, `${set}/b${letter}`),
    ]),
  ),
  ...SHOGI_SETS.flatMap((set) =>
    Object.values(SHOGI_ROLES).flatMap((role) => [
      piece(`shogi='${set}'`, 'sente', role, `${set}/s_${role}`),
      piece(`shogi='${set}'`, 'gote', role, `${set}/g_${role}`),
    ]),
  ),
];

const CHESS_COLORS = ['--sq-l', '--sq-d', '--co-l', '--co-d', '--last-chess'];
const SHOGI_COLORS = ['--shogi', '--shogi-line', '--stand'];

/** The colors of the boards, except of the first ones, which belong to the themes. A unit test checks the contrast. */
export const CHESS_LOOKS: Record<Exclude<ChessBoard, 'green'>, string[]> = {
  brown: ['#f0d9b5', '#b58863', '#63401f', '#2a1805', 'rgb(170 190 40 / 50%)'],
  blue: ['#dee6ee', '#8ca2b8', '#3c5268', '#122233', 'rgb(240 200 70 / 50%)'],
  gray: ['#e4e4e1', '#a0a09c', '#50504d', '#1d1d1c', 'rgb(226 190 60 / 50%)'],
  wood: ['#e8cb98', '#b07f48', '#5f3c14', '#251402', 'rgb(170 190 40 / 50%)'],
  purple: ['#e9e2f1', '#a08dbd', '#584373', '#1f1230', 'rgb(240 200 90 / 50%)'],
  rose: ['#f6e4dc', '#cf9584', '#7a3a2a', '#32110a', 'rgb(240 205 90 / 50%)'],
  sea: ['#e0efed', '#7fafab', '#2c5a56', '#0b2422', 'rgb(240 205 80 / 50%)'],
  slate: ['#9aa6b2', '#566371', '#161d24', '#ffffff', 'rgb(200 160 30 / 33%)'],
};
export const SHOGI_LOOKS: Record<Exclude<ShogiBoard, 'kaya'>, string[]> = {
  light: ['#f6e3bd', '#6a4d21', '#e3c994'],
  dark: ['#b98648', '#38240a', '#8d6231'],
  paper: ['#f7f4ea', '#5c5749', '#e6e1d2'],
  moss: ['#c3cfa6', '#434f2b', '#a9b78a'],
};

/** High contrast has its own boards. */
function board(kind: string, names: string[], [name, colors]: [string, string[]]): string {
  const of = `[data-${kind}-board='${name}']`;
  const values = names.map((property, at) => `${property}: ${colors[at] ?? ''}`).join('; ');
  return `:root:not([data-theme='contrast'])${of}, .swatch${of} { ${values} }`;
}

/** Adds the rules to the page. */
export function addLooks() {
  const sheet = new CSSStyleSheet();
  const boards = [
    ...Object.entries(CHESS_LOOKS).map((look) => board('chess', CHESS_COLORS, look)),
    ...Object.entries(SHOGI_LOOKS).map((look) => board('shogi', SHOGI_COLORS, look)),
  ];
  sheet.replaceSync([...PIECE_RULES, ...boards].join('\n'));
  document.adoptedStyleSheets.push(sheet);
}
