// Studies: named lists of games, the chapters. The library and the protocol call them collections.
import type { Chapters, Collections, GameOrder, Selection } from '../../api/wire';
import { boardPage } from '../../app/boards.svelte';
import { go } from '../../app/route.svelte';
import { toast } from '../../app/toasts.svelte';
import { countText } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { post } from '../../store/http';
import type { GameId, NodeId } from '../../store/ids';
import { act, attempt } from '../../store/server.svelte';
import { chooser } from '../common/chooser.svelte';

class Studies {
  /** Counts the changes of studies by this tab. */
  changes = $state(0);
  /** The place of the game on the board. */
  place = $state.raw<GameOrder | null>(null);
  /** The study that becomes a repertoire. The frame of the page shows the dialog. */
  trained = $state.raw<{ id: number; name: string } | null>(null);
}

export const studies = new Studies();

export const changed = () => (studies.changes += 1);

let wanted: GameId | null = null;

/** Finds the place of the game on the board; in the study of the last one, if the game is in several. */
export async function findPlace(game: GameId | null) {
  wanted = game;
  const collection = studies.place?.collection.id ?? null;
  // Without an answer the game has no place.
  const order = (): Promise<GameOrder | null> => post('library/order', { game, collection });
  const place = game === null ? null : await order().catch(() => null);
  if (wanted === game) studies.place = place;
}

/** Shows another chapter. The last one is closed: chapters do not pile up among the boards. */
export async function openChapter(game: GameId | null, before: GameId, playing: boolean) {
  if (game === null || game === before) return;
  const answer = await act({ kind: 'open_game', game });
  if (answer?.kind !== 'game') return;
  go(boardPage(), answer.game);
  if (!playing) await act({ kind: 'close_game', game: before });
}

/** Creates a study and shows it. */
export async function createStudy(name: string, of: Selection) {
  const answer = await act({ kind: 'edit_collection', edit: { kind: 'create', name, of } });
  if (answer?.kind === 'collection') go('library', answer.id);
}

/** All studies, the last changed one first. None after an error, which is shown. */
export async function allStudies(): Promise<Collections['collections']> {
  const found = await attempt(() => post<Collections>('library/collections', {}));
  return found?.collections ?? [];
}

/** Adds games to the study with a name, which is created if it does not exist. */
export async function addToStudy(name: string, of: Selection): Promise<boolean> {
  const known = (await allStudies()).find((one) => one.name === name.trim());
  const answer = await act({
    kind: 'edit_collection',
    edit: known
      ? { kind: 'add', collection: known.id, of, place: null }
      : { kind: 'create', name: name.trim(), of },
  });
  if (answer) toast(t('collection.added', { name: name.trim() }), 'good');
  changed();
  return answer !== undefined;
}

/** Adds moves of games to a game, or to a new one, and reports what was added. Answers with the game. */
export async function merge(
  game: number | null,
  of: Selection,
  part: number | null = null,
): Promise<number | null> {
  const into = { ...(game === null ? {} : { game }), ...(part === null ? {} : { part }) };
  const answer = await act({ kind: 'merge_games', of, ...into });
  if (answer?.kind !== 'merged') return null;
  const { moves, omitted, unconnected } = answer.merged;
  const counts = [t('study.merged', { count: countText(moves) })];
  if (omitted) counts.push(t('study.merged.omitted', { count: countText(omitted) }));
  if (unconnected) counts.push(t('study.merged.unconnected', { count: countText(unconnected) }));
  toast(counts.join(' · '), omitted || unconnected ? 'bad' : 'good');
  return answer.game;
}

/** Adds a game with the main lines of games as one tree, and reports what it has. Answers with it. */
export async function buildOpeningTree(
  of: Selection,
  plies: number,
  minGames: number,
): Promise<number | null> {
  const answer = await act({ kind: 'build_opening_tree', of, plies, min_games: minGames });
  if (answer?.kind !== 'opening_tree') return null;
  const { games, moves, omitted, unconnected, cut } = answer.tree;
  const counts = [t('opening_tree.built', { games: countText(games), moves: countText(moves) })];
  if (omitted) counts.push(t('opening_tree.omitted', { count: countText(omitted) }));
  if (unconnected) counts.push(t('study.merged.unconnected', { count: countText(unconnected) }));
  if (cut) counts.push(t('opening_tree.cut', { count: countText(cut) }));
  toast(counts.join(' · '), unconnected || cut ? 'bad' : 'good');
  return answer.game;
}

/** Adds a chapter for each continuation of a position. */
export async function split(game: GameId, node: NodeId) {
  const answer = await act({ kind: 'split_game', game, node });
  if (answer?.kind !== 'collection') return;
  const open = { label: t('study.open'), accept: () => go('library', answer.id) };
  toast(t('study.was_split'), 'good', open);
  changed();
}

/** Copies the line to a node, with everything after it, to another chapter. */
export async function copyLine(game: GameId, node: NodeId, study: number) {
  const found = await attempt(() => post<Chapters>('library/chapters', { collection: study }));
  const others = (found?.chapters ?? []).filter((chapter) => chapter.game.id !== game);
  const to = await chooser.ask(
    t('study.copy_line'),
    others.map((chapter) => [chapter.game.id, chapter.name]),
  );
  if (to !== null) await merge(to, { kind: 'games', games: [game] }, node);
}
