// The commands in the menus of the toolbar and of the move list.
import type { Edit, Side } from '../../api/wire';
import { copyText } from '../../app/clipboard';
import { prefs, setPref } from '../../app/prefs.svelte';
import { go } from '../../app/route.svelte';
import { t } from '../../i18n/index.svelte';
import type { Game } from '../../store/apply';
import { getText } from '../../store/http';
import { act, attempt } from '../../store/server.svelte';
import { formatsOf } from '../share/export';
import { copyLine, split, studies } from '../study/studies.svelte';
import type { MenuItem } from '../common/Menu.svelte';

/** `editable` is whether moves can be annotated and variations changed. */
export function moveItems(game: Game, editable: boolean): MenuItem[] {
  const edit = (change: Edit) => void act({ kind: 'edit', game: game.id, edit: change });
  const toggled = (name: 'symbols' | 'judgements'): MenuItem => ({
    label: t(`moves.${name}`),
    icon: 'bulb',
    checked: prefs[name] === 'true',
    run: () => setPref(name, prefs[name] === 'true' ? 'false' : 'true'),
  });
  const layers = [toggled('symbols'), toggled('judgements')];
  if (!editable) return layers;
  const { cursor: node } = game;
  const first = node === game.root;
  const judged = [...game.nodes.values()].some(({ engine }) => engine);
  const here = game.nodes.get(node);
  const { place } = studies;
  return [
    {
      label: t('edit.promote'),
      icon: 'up',
      disabled: first,
      run: () => edit({ kind: 'promote', node, to_main: false }),
    },
    { label: t('edit.delete'), icon: 'trash', disabled: first, run: () => edit({ kind: 'delete', node }) },
    {
      label: t('study.split'),
      icon: 'export',
      disabled: (here?.children.length ?? 0) < 2,
      run: () => void split(game.id, node),
    },
    ...(place && place.collection.chapters > 1 && !first
      ? [
          {
            label: t('study.copy_line'),
            icon: 'copy' as const,
            run: () => void copyLine(game.id, node, place.collection.id),
          },
        ]
      : []),
    ...layers,
    {
      label: t('moves.remove_judgements'),
      icon: 'trash',
      disabled: !judged,
      run: () => edit({ kind: 'remove_judgements' }),
    },
  ];
}

/** The header of Lichess studies for the side at the bottom. */
const ORIENTATION = 'Orientation';
const SIDES = { chess: ['white', 'black'], shogi: ['sente', 'gote'] } as const;
const sidesOf = (game: Game) => SIDES[game.variant === 'shogi' ? 'shogi' : 'chess'];

/** The side at the bottom by the record. */
export function keptSide(game: Game): Side | null {
  const value = game.headers.find(({ name }) => name === ORIENTATION)?.value.toLowerCase();
  const [first, second] = sidesOf(game);
  return value === first ? 'first' : value === second ? 'second' : null;
}

/** Stores the side at the bottom in the record, or removes it. */
function keepSide(game: Game, side: Side | null) {
  const headers = game.headers.filter(({ name }) => name !== ORIENTATION);
  if (side) headers.push({ name: ORIENTATION, value: sidesOf(game)[side === 'first' ? 0 : 1] });
  void act({ kind: 'edit', game: game.id, edit: { kind: 'headers', headers } });
}

export const toggleSound = () => setPref('sound', prefs.sound === 'true' ? 'false' : 'true');

/** Copies the record in the first format of the variant. */
export async function copyGame(game: Game) {
  const format = formatsOf(game.variant)[0] ?? 'pgn';
  const query = { format, node: String(game.cursor), engine: 'true' };
  await attempt(async () => copyText(await (await getText(`export/${game.id}`, query)).text()));
}

/** The commands of the toolbar without a button. */
export function boardItems(
  game: Game,
  page: 'play' | 'analyse',
  onnew: () => void,
  onshare: () => void,
  onfollow: () => void,
  { editable, orientation }: { editable: boolean; orientation: Side },
): MenuItem[] {
  const analyse: MenuItem = { label: t('nav.analyse'), icon: 'analyse', run: () => go('analyse', game.id) };
  return [
    { label: t('new.title'), icon: 'plus', run: onnew },
    ...(page === 'play' ? [analyse] : []),
    { label: t('tab.record'), icon: 'export', run: onshare },
    { label: t('copy.game'), icon: 'copy', run: () => void copyGame(game) },
    ...(page === 'analyse'
      ? [{ label: t('repertoire.title'), icon: 'library' as const, run: onfollow }]
      : []),
    ...(editable
      ? [
          {
            label: t('board.keep_side'),
            icon: 'flip' as const,
            checked: keptSide(game) === orientation,
            run: () => keepSide(game, keptSide(game) === orientation ? null : orientation),
          },
        ]
      : []),
    { label: t('sound.mute'), icon: 'sound', checked: prefs.sound !== 'true', run: toggleSound },
  ];
}

/** The commands whose buttons phones have no room for. */
export function phoneItems(game: Game, editable: boolean, oncomment: () => void): MenuItem[] {
  const edit = (kind: 'undo' | 'redo') => () => void act({ kind: 'edit', game: game.id, edit: { kind } });
  const more: MenuItem[] = [
    { label: t('edit.undo'), icon: 'undo', disabled: !game.undo.undo, run: edit('undo') },
    { label: t('edit.redo'), icon: 'redo', disabled: !game.undo.redo, run: edit('redo') },
    { label: t('edit.comment'), icon: 'edit', run: oncomment },
  ];
  return [...(editable ? more : []), ...moveItems(game, editable)];
}
