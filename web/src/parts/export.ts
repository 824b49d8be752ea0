// Exports games of the library to a file.
import type { RecordFormat, Selection, Variant } from '../api/wire';
import { getText, save } from '../store/http';
import { showError } from '../store/server.svelte';

/** Formats of files with several games, by variant; all formats for any variant. */
export function gameFormats(variant: Variant | null): readonly RecordFormat[] {
  const shogi = ['kif', 'ki2', 'csa', 'jkf'] as const;
  const both = ['epd', 'line'] as const;
  if (variant === null) return ['pgn', ...shogi, ...both];
  return variant === 'shogi' ? [...shogi, ...both] : ['pgn', ...both];
}

export async function exportGames(of: Selection, format: RecordFormat, name = 'games') {
  try {
    const found = await getText('export', { of: JSON.stringify(of), format, engine: 'true' });
    const extension = format === 'jkf' ? 'json' : format === 'line' ? 'txt' : format;
    save(`${name}.${extension}`, await found.blob());
  } catch (error) {
    showError(error);
  }
}
