// Exports games of the library to a file.
import { type RecordFormat, recordFormats } from '../api/formats';
import type { Selection, Variant } from '../api/wire';
import { getText, save } from '../store/http';
import { showError } from '../store/server.svelte';

/** Formats of a game, by variant; all formats for any variant. */
export function formatsOf(variant: Variant | null): readonly RecordFormat[] {
  const found = recordFormats.filter((one) => variant === null || one.variants.includes(variant));
  return found.map((one) => one.name);
}

/** Formats of files with several games. */
export function gameFormats(variant: Variant | null): readonly RecordFormat[] {
  return formatsOf(variant).filter((name) => name !== 'position');
}

/** The extension of files. */
export function extensionOf(format: RecordFormat): string {
  return recordFormats.find((one) => one.name === format)?.extension ?? format;
}

export async function exportGames(of: Selection, format: RecordFormat, name = 'games') {
  try {
    const found = await getText('export', { of: JSON.stringify(of), format });
    save(`${name}.${extensionOf(format)}`, await found.blob());
  } catch (error) {
    showError(error);
  }
}
