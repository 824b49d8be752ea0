// Imports records from files, pasted text and drops.
import type { DuplicateChoice, Imported } from '../../api/wire';
import { toast } from '../../app/toasts.svelte';
import { t } from '../../i18n/index.svelte';
import { countText, errorInfoText } from '../../i18n/format';
import { upload } from '../../store/http';
import { showError } from '../../store/server.svelte';
import { createStudy } from '../study/studies.svelte';
import { beginUpload } from './imports';
import { shownBoard } from './openGames';
import { decodeRecord, isLink, OPEN } from '../share/link';

/** The text of a link with a record, or the text itself. */
async function contentOf(blob: Blob): Promise<Blob> {
  const start = await blob.slice(0, 200).text();
  if (!start.includes(OPEN)) return blob;
  const record = await decodeRecord(await blob.text());
  return record === null ? blob : new Blob([record]);
}

interface How {
  /** Opens a single game as a draft, and several as a collection. */
  open?: boolean;
  duplicates?: DuplicateChoice;
}

/** Imports or opens a record. Returns null after an error, which is shown. */
export async function importText(
  blob: Blob,
  name: string,
  { open = false, duplicates = 'skip' }: How,
): Promise<Imported | null> {
  const abort = beginUpload(name);
  try {
    const content = await contentOf(blob);
    const query: Record<string, string> = { name, open: String(open), duplicates };
    const board = shownBoard();
    if (open && board !== null) query.replaces = String(board);
    const result = await upload<Imported>('import', query, content, abort.signal);
    // A game that is being played, or was pasted in part, has no result.
    if (open) result.warnings = result.warnings.filter(({ code }) => code !== 'missing_result');
    // Many games end without a result; lost moves weigh more than other defects.
    const error =
      result.errors[0] ??
      result.warnings.find(({ context }) => context?.kept) ??
      result.warnings.find(({ code }) => code !== 'missing_result');
    const isDraft = result.opened !== null && !result.collection;
    if (error && result.opened === null && !result.total && isLink(await content.slice(0, 2000).text())) {
      toast(t('record.link'), 'bad');
    } else if (isDraft) {
      // For example a position that violates the rules, which is only for viewing.
      if (error) toast(t('record.opened', { error: errorInfoText(error) }), 'bad');
    } else {
      report(result);
      if (error) toast(errorInfoText(error), 'bad');
    }
    return result;
  } catch (error) {
    // Games that were read before a cancellation remain.
    if (!abort.signal.aborted) showError(error);
    return null;
  }
}

/** Shows the counts of an import, and offers to open it as a collection. */
function report({ total, duplicates, undecided, collection, errors }: Imported) {
  const counts = [t('record.done', { count: countText(total) })];
  if (duplicates) counts.push(t('record.duplicates', { count: countText(duplicates) }));
  if (undecided) counts.push(t('record.undecided', { count: countText(undecided) }));
  if (collection?.id) {
    counts.unshift(t('collection.opened', { name: collection.name, count: collection.games.length }));
  }
  const offer = collection &&
    !collection.id && {
      label: t('collection.open', { count: collection.games.length }),
      accept: () => void createStudy(collection.name, { kind: 'games', games: collection.games }),
    };
  if (total > 0 || collection || !errors.length) toast(counts.join(' · '), 'good', offer || undefined);
}

/** Whether a drag contains files or text. */
export function brings(event: DragEvent): boolean {
  return [...(event.dataTransfer?.types ?? [])].some((type) => type === 'Files' || type === 'text/plain');
}

/** The dropped files or text. */
export function dragged(event: DragEvent): { blob: Blob; name: string }[] {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length) return files.map((file) => ({ blob: file, name: file.name }));
  const text = event.dataTransfer?.getData('text/plain') ?? '';
  return text.trim() ? [{ blob: new Blob([text]), name: 'dragged.txt' }] : [];
}
