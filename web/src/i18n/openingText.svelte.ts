// The names of openings in the language of the page.
import { language } from '../app/prefs.svelte';

class OpeningTable {
  /** Loaded for the first name in Japanese. */
  japanese = $state.raw<(name: string) => string>();
}

const table = new OpeningTable();
let isLoading = false;

export function openingText(name: string): string {
  if (language() !== 'ja') return name;
  if (!isLoading) {
    isLoading = true;
    void import('./openings').then(({ japaneseOpening }) => (table.japanese = japaneseOpening));
  }
  return table.japanese?.(name) ?? name;
}
