// What the command palette offers for a text: boards, commands, settings, games of the library and records.
import type { GameLine, LibraryGame, LibraryPage, LibraryQuery } from '../api/wire';
import { allTexts, known, t } from '../i18n/index.svelte';
import type { Key } from '../i18n/en';
import { blankFilter, filterOf } from '../parts/library/filter';
import { importText } from '../parts/library/import';
import { openGame } from '../parts/library/openGames';
import { post } from '../store/http';
import { boardName, openBoard } from './boards.svelte';
import type { IconName } from './Icon.svelte';
import { COMMANDS, runOf, shownKey } from './keys.svelte';
import { prefs, setPref } from './prefs.svelte';
import { go } from './route.svelte';
import { CHOICES, SETS, SWITCHES, valueLabel } from './choices';

export interface Item {
  /** Unique in the palette. */
  id: string;
  group: Key;
  icon: IconName;
  label: string;
  /** Further text at the right: a key, a date. */
  note: string;
  /** What a search compares with, in lower case. */
  text: string;
  run: () => void;
}

/** Commands that the palette itself replaces. */
const OWN = ['palette.open', 'search.focus', 'boards.number', 'boards.all'];
const RECENT = 5;
const GAMES = 6;

const ICONS: readonly [start: string, icon: IconName][] = [
  ['nav.', 'next'],
  ['boards.', 'board'],
  ['play.', 'play'],
  ['engine.', 'engines'],
  ['report.', 'analyse'],
  ['copy.', 'copy'],
  ['edit.', 'edit'],
];

/** The commands that are possible now. */
export const commands = (): Item[] =>
  COMMANDS.flatMap(({ scope, keys }) =>
    Object.entries(keys).flatMap(([command, names]): Item[] => {
      const run = runOf(command);
      if (!run || OWN.includes(command)) return [];
      const label = t(command as Key);
      return [
        {
          id: command,
          group: scope,
          icon: ICONS.find(([start]) => command.startsWith(start))?.[1] ?? 'go',
          label,
          note: names[0] === undefined ? '' : shownKey(names[0]),
          text: allTexts(command as Key)
            .join(' ')
            .toLowerCase(),
          run,
        },
      ];
    }),
  );

export const settings = (): Item[] => [
  ...[...CHOICES, ...SETS].flatMap(({ name, label, values, current = () => prefs[name] }) =>
    values.map(([value, of]): Item => {
      const text = `${t(label)}: ${valueLabel(of)}`;
      return {
        id: `${name}=${value}`,
        group: 'settings.title',
        icon: current() === value ? 'check' : 'settings',
        label: text,
        note: '',
        text: `${text} ${[label, of].flatMap((one) => (known(one) ? allTexts(one) : [])).join(' ')}`.toLowerCase(),
        run: () => setPref(name, value as never),
      };
    }),
  ),
  ...SWITCHES.map(([name, label]): Item => ({
    id: name,
    group: 'settings.title',
    icon: prefs[name] === 'true' ? 'check' : 'settings',
    label: t(label),
    note: '',
    text: allTexts(label).join(' ').toLowerCase(),
    run: () => setPref(name, (prefs[name] === 'true' ? 'false' : 'true') as never),
  })),
];

export const boardItems = (games: GameLine[]): Item[] =>
  games
    .toSorted((a, b) => b.changed - a.changed)
    .map((game): Item => {
      const label = boardName(game);
      const note = [game.event, game.date].filter(Boolean).join(' · ');
      return {
        id: `board ${game.id}`,
        group: 'boards.open',
        icon: 'board',
        label,
        note,
        text: `${label} ${note} #${game.id}`.toLowerCase(),
        run: () => openBoard(game.id),
      };
    });

/** Games of the library with a player; an error finds none. */
export async function libraryItems(text: string): Promise<Item[]> {
  if (text.length < 2) return [];
  const filter = filterOf({ ...blankFilter(), player: text });
  const query: LibraryQuery = {
    ...filter,
    sort: 'date',
    ascending: false,
    offset: 0,
    limit: GAMES,
    ticket: null,
  };
  try {
    return (await post<LibraryPage>('library/search', query)).games.map(gameItem);
  } catch {
    return [];
  }
}

function gameItem(game: LibraryGame): Item {
  const { first, second } = game.names;
  return {
    id: `game ${game.id}`,
    group: 'nav.library',
    icon: 'library',
    label: `${first || '?'} – ${second || '?'} ${game.result === '*' ? '' : game.result}`,
    note: [game.event, game.date].filter(Boolean).join(' · '),
    text: '',
    run: () => void openGame(game.id),
  };
}

/** FEN and SFEN: rows of pieces, and the side to move. */
const POSITION = /^\s*(?:sfen |position )?(?:[+\dA-Za-z]+\/){7,8}[+\dA-Za-z]+ [wb]\b/;
/** Moves in SAN, coordinates or Japanese notation, headers of PGN, KIF and CSA, links. */
const RECORD =
  /(?:^|\s)(?:\d+\.|O-O|[NBRQK]?[a-h]?[1-8]?x?[a-h][1-8]|[1-9][a-i][1-9][a-i])|\[\w+ "|[▲△☗☖]|[１-９][一二三四五六七八九]|手合割|^V2|^https?:/;

/** Opens a position or a record. The server parses it and reports what is wrong. */
export function recordItem(text: string): Item[] {
  const position = POSITION.test(text);
  if (!position && !RECORD.test(text)) return [];
  return [
    {
      id: 'record',
      group: 'palette.text',
      icon: position ? 'board' : 'import',
      label: t(position ? 'palette.position' : 'palette.import'),
      note: '',
      text: '',
      run: () => {
        void importText(new Blob([text]), 'pasted.txt', { open: true }).then((result) => {
          if (result?.opened) go('analyse', result.opened);
        });
      },
    },
  ];
}

/** The items for a text; without any, the recent boards and all commands. */
export function itemsFor(text: string, games: GameLine[]): Item[] {
  const tokens = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!tokens.length) return [...boardItems(games).slice(0, RECENT), ...commands()];
  const rank = ({ text: of, label }: Item) =>
    label.toLowerCase().startsWith(tokens[0] ?? '')
      ? 0
      : new RegExp(`(^|\\W)${escaped(tokens[0])}`).test(of)
        ? 1
        : 2;
  const found = [...boardItems(games), ...commands(), ...settings()]
    .filter((item) => tokens.every((token) => item.text.includes(token)))
    .map((item) => ({ item, rank: rank(item) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
  // The groups in the order of their best items.
  const groups = [...new Set(found.map(({ group }) => group))];
  return groups.flatMap((of) => found.filter(({ group }) => group === of));
}

const escaped = (text = '') => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
