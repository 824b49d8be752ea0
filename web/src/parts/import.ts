// Imports records from files, pasted text and drops.
import type { DuplicateChoice, Imported } from '../api/wire';
import { toast } from '../app/toasts.svelte';
import { t } from '../i18n/index.svelte';
import { errorInfoText } from '../i18n/format';
import { upload, uploadWithProgress } from '../store/http';
import { showError } from '../store/server.svelte';
import { createCollection } from './collections';
import { decodeRecord, isLink, OPEN } from './link';

/** The text of a link with a record, or the text itself. */
async function contentOf(blob: Blob): Promise<Blob> {
  const start = await blob.slice(0, 200).text();
  if (!start.includes(OPEN)) return blob;
  const record = await decodeRecord(await blob.text());
  return record === null ? blob : new Blob([record]);
}

/** The progress of an upload, and a signal that cancels it. */
export interface Progress {
  onprogress: (bytes: number) => void;
  signal: AbortSignal;
}

/** Uploads a record and optionally opens its first game. */
export async function importText(
  blob: Blob,
  name: string,
  open: boolean,
  progress?: Progress,
  duplicates: DuplicateChoice = 'skip',
): Promise<Imported | null> {
  try {
    const query = { name, open: String(open), duplicates };
    const content = await contentOf(blob);
    const result = await (progress
      ? uploadWithProgress<Imported>('import', query, content, progress)
      : upload<Imported>('import', query, content));
    // A game that is being played, or was pasted in part, has no result.
    if (open) result.warnings = result.warnings.filter(({ code }) => code !== 'missing_result');
    let text = t('record.done', { count: result.total });
    if (result.duplicates) text += ` · ${t('record.duplicates', { count: result.duplicates })}`;
    if (result.undecided) text += ` · ${t('record.undecided', { count: result.undecided })}`;
    const { collection } = result;
    const offer = collection && {
      label: t('collection.open', { count: collection.games.length }),
      accept: () => void createCollection(collection.name, { kind: 'games', games: collection.games }),
    };
    // Many games end without a result; lost moves weigh more than other defects.
    const error =
      result.errors[0] ??
      result.warnings.find(({ context }) => context?.kept) ??
      result.warnings.find(({ code }) => code !== 'missing_result');
    if (error && !result.total && isLink(await content.slice(0, 2000).text())) {
      toast(t('record.link'), 'bad');
    } else if (error && open && result.total === 1) {
      // For example a position that violates the rules, which is only for viewing.
      toast(t('record.opened', { error: errorInfoText(error) }), 'bad', offer ?? undefined);
    } else {
      if (result.total > 0 || offer || !error) toast(text, 'good', offer ?? undefined);
      if (error) toast(errorInfoText(error), 'bad');
    }
    return result;
  } catch (error) {
    // Games that were read before a cancellation remain.
    if (!progress?.signal.aborted) showError(error);
    return null;
  }
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
