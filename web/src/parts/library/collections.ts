// Collections of games.
import type { Collections, Selection } from '../../api/wire';
import { go } from '../../app/route.svelte';
import { toast } from '../../app/toasts.svelte';
import { t } from '../../i18n/index.svelte';
import { post } from '../../store/http';
import { act, attempt } from '../../store/server.svelte';

/** Creates a collection and shows it. */
export async function createCollection(name: string, of: Selection) {
  const answer = await act({ kind: 'edit_collection', edit: { kind: 'create', name, of } });
  if (answer?.kind === 'collection') go('library', answer.id);
}

/** All collections, the last changed one first. None after an error, which is shown. */
export async function allCollections(): Promise<Collections['collections']> {
  const found = await attempt(() => post<Collections>('library/collections', {}));
  return found?.collections ?? [];
}

/** Adds games to the collection with a name, which is created if it does not exist. */
export async function addToCollection(name: string, of: Selection): Promise<boolean> {
  const known = (await allCollections()).find((one) => one.name === name.trim());
  const answer = await act({
    kind: 'edit_collection',
    edit: known
      ? { kind: 'add', collection: known.id, of, place: null }
      : { kind: 'create', name: name.trim(), of },
  });
  if (answer) toast(t('collection.added', { name: name.trim() }), 'good');
  return answer !== undefined;
}
