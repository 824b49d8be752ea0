// Titles of the tabs of open games. Games with the same name are distinguished.
import type { GameLine } from '../api/wire';
import { t } from '../i18n/index.svelte';
import type { GameId } from '../store/ids';

export interface TabTitle {
  name: string;
  /** What distinguishes the game from those with the same name; empty without any. */
  mark: string;
}

/** What can distinguish games, the shortest first. */
const MARKS: ((game: GameLine) => string[])[] = [
  ({ date }) => [date ?? ''],
  ({ round }) => [roundText(round)],
  ({ event }) => [event],
  ({ round, date }) => [roundText(round), date ?? ''],
  ({ event, round, date }) => [event, roundText(round), date ?? ''],
];

export function tabTitles(
  games: GameLine[],
  nameOf: (game: GameLine) => string,
): { [game in GameId]?: TabTitle } {
  const groups = new Map<string, GameLine[]>();
  for (const game of games) groups.set(nameOf(game), [...(groups.get(nameOf(game)) ?? []), game]);
  const titles = [...groups].flatMap(([name, group]) => {
    const marks = group.length > 1 ? marksOf(group) : [''];
    return group.map(({ id }, index) => [id, { name, mark: marks[index] ?? '' }] as const);
  });
  return Object.fromEntries(titles);
}

function marksOf(games: GameLine[]): string[] {
  for (const mark of MARKS) {
    const texts = games.map((game) => joined(mark(game)));
    if (!texts.includes('') && new Set(texts).size === games.length) return texts;
  }
  // The number of the game, as in its address.
  return games.map(({ id }) => `#${id}`);
}

/** Everything known about a game, for its tooltip. */
export const tooltip = (name: string, { id, event, round, date, result }: GameLine) =>
  joined([name, event, roundText(round), date ?? '', result === '*' ? '' : result, `#${id}`]);

/** A round, which may be a text such as “Final”. */
const roundText = (round: string) => (/^[\d.]+$/.test(round) ? t('tabs.round', { round }) : round);

const joined = (parts: string[]) => parts.filter(Boolean).join(' · ');
