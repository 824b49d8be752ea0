// Exports games of the library to a file.
import { type RecordFormat, recordFormats } from '../../api/formats';
import type { Selection, Variant } from '../../api/wire';
import { toast } from '../../app/toasts.svelte';
import { countText } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { get, getText, save } from '../../store/http';
import { attempt } from '../../store/server.svelte';

/** Formats of a game, by variant; all formats for any variant. */
export function formatsOf(variant: Variant | null): readonly RecordFormat[] {
  const found = recordFormats.filter((one) => variant === null || one.variants.includes(variant));
  return found.map((one) => one.name);
}

/** Formats of files with several games. */
export function gameFormats(variant: Variant | null): readonly RecordFormat[] {
  return formatsOf(variant).filter((name) => name !== 'position');
}

export const formatOptions = (formats: readonly RecordFormat[]) =>
  formats.map((one) => [one, t(`format.${one}`)] as const);

/** The extension of files. */
export function extensionOf(format: RecordFormat): string {
  return recordFormats.find((one) => one.name === format)?.extension ?? format;
}

/** Saves games as a file, and reports how many of them the format cannot hold. */
export async function exportGames(of: Selection, format: RecordFormat, name = 'games') {
  await attempt(async () => {
    const found = await getText('export', { of: JSON.stringify(of), format });
    save(`${name}.${extensionOf(format)}`, await found.blob());
    const number = found.headers.get('x-export') ?? '';
    const omitted = await get<number>('export/omitted', { export: number });
    if (omitted)
      toast(t('record.omitted', { count: countText(omitted), format: t(`format.${format}`) }), 'bad');
  });
}
