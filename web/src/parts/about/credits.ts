// What the app is made of, with authors and licences. A test compares LICENSES.md with it.
import type { Key } from '../../i18n/en';

/** The sections of the About page. */
export const GROUPS = ['chess', 'shogi', 'boards', 'fonts', 'libraries', 'other'] as const;

export interface Credit {
  group: (typeof GROUPS)[number];
  /** The path in `web`, or the package. */
  what: string;
  /** The name to show, other than the package. */
  name?: Key;
  /** An SPDX expression. */
  licence: string;
  /** The authors of a part that was not made for Readyok. */
  authors?: string;
  /** The registry package that has it, or whose file it is. */
  from?: string;
  /** The program that draws or makes it. */
  script?: string;
  /** Fonts whose characters it has, with their licences. */
  outlines?: string;
}

const OWN = 'GPL-3.0-or-later';
const DEJAVU = 'DejaVu Sans (Bitstream-Vera)';
const CHESS = 'scripts/chess_pieces.py';
const SHOGI = 'scripts/shogi_pieces.py';

export const CREDITS: Credit[] = [
  {
    group: 'chess',
    what: 'public/pieces/classic',
    name: 'settings.chess_pieces.classic',
    licence: 'BSD-3-Clause',
    authors: 'Copyright (c) 2006 Colin M. L. Burnett',
    from: '@lichess-org/chessground',
  },
  {
    group: 'chess',
    what: 'public/pieces/simple',
    name: 'settings.chess_pieces.simple',
    licence: OWN,
    script: CHESS,
  },
  {
    group: 'chess',
    what: 'public/pieces/staunton',
    name: 'settings.chess_pieces.staunton',
    licence: OWN,
    script: CHESS,
  },
  {
    group: 'chess',
    what: 'public/pieces/figurine',
    name: 'settings.chess_pieces.figurine',
    licence: OWN,
    script: CHESS,
    outlines: DEJAVU,
  },
  {
    group: 'chess',
    what: 'public/pieces/letters',
    name: 'settings.chess_pieces.letters',
    licence: OWN,
    script: CHESS,
    outlines: DEJAVU,
  },
  {
    group: 'shogi',
    what: 'public/pieces/kanji',
    name: 'settings.pieces.kanji',
    licence: OWN,
    script: SHOGI,
    outlines: 'Noto Serif CJK JP (OFL-1.1)',
  },
  {
    group: 'shogi',
    what: 'public/pieces/brush',
    name: 'settings.pieces.brush',
    licence: OWN,
    script: SHOGI,
    outlines: 'Yuji Boku (OFL-1.1)',
  },
  {
    group: 'shogi',
    what: 'public/pieces/gothic',
    name: 'settings.pieces.gothic',
    licence: OWN,
    script: SHOGI,
    outlines: 'Noto Sans CJK JP (OFL-1.1)',
  },
  {
    group: 'shogi',
    what: 'public/pieces/international',
    name: 'settings.pieces.international',
    licence: OWN,
    script: SHOGI,
    outlines: DEJAVU,
  },
  { group: 'boards', what: 'src/board/looks.ts', name: 'about.boards', licence: OWN },
  {
    group: 'boards',
    what: 'public/boards/grain.svg',
    name: 'about.grain',
    licence: OWN,
    script: 'scripts/boards.py',
  },
  {
    group: 'fonts',
    what: 'public/fonts/inter.woff2',
    name: 'about.inter',
    licence: 'OFL-1.1',
    authors: 'Copyright (c) 2016-2018 The Inter Project Authors',
    from: 'inter-ui',
    script: 'scripts/font.py',
  },
  {
    group: 'libraries',
    what: '@lichess-org/chessground',
    licence: OWN,
    authors: 'Lichess Team',
    from: '@lichess-org/chessground',
  },
  {
    group: 'libraries',
    what: 'shogiground',
    licence: OWN,
    authors: 'Thibault Duplessis, WandererXII',
    from: 'shogiground',
  },
  {
    group: 'libraries',
    what: 'gifenc',
    licence: 'MIT',
    authors: 'Copyright (c) 2017 Matt DesLauriers',
    from: 'gifenc',
  },
  {
    group: 'libraries',
    what: 'svelte',
    licence: 'MIT',
    authors: 'Copyright (c) 2016-2025 Svelte Contributors',
    from: 'svelte',
  },
  {
    group: 'other',
    what: 'public/icon.svg, public/icons, src/app/Icon.svelte',
    name: 'about.icons',
    licence: OWN,
    script: 'scripts/icons.mjs',
  },
  { group: 'other', what: 'src/app/sounds.ts', name: 'about.sounds', licence: OWN },
  {
    group: 'other',
    what: 'crates/rules/src/opening/names.tsv',
    name: 'about.openings',
    licence: 'CC0-1.0',
    authors: 'lichess-org/chess-openings',
  },
];
