// The found games of the library, of which the parts that are visible are loaded.
import type { LabelCount, LibraryGame, LibraryPage, LibraryQuery, LibrarySource } from '../../api/wire';
import { post } from '../../store/http';
import { reasonOf } from '../../store/server.svelte';
import { blankFilter, filterOf, ORIGINS, type Origin } from './filter';

/** Number of games of a request. */
const PART = 100;

type Query = Omit<LibraryQuery, 'offset' | 'limit'>;

/** The number of all games, and of those of each origin; null after an error. */
export async function countGames(): Promise<Record<'games' | Origin, number> | null> {
  const count = async (source: LibrarySource | null) => {
    const query: LibraryQuery = {
      ...filterOf(blankFilter()),
      source,
      sort: 'changed',
      ascending: false,
      offset: 0,
      limit: 1,
    };
    return (await post<LibraryPage>('library/search', query)).total;
  };
  try {
    const { mine, matches } = ORIGINS;
    const [all, own, played] = await Promise.all([count(null), count(mine.source), count(matches.source)]);
    return { games: all, mine: own, matches: played };
  } catch {
    // The list of games shows why.
    return null;
  }
}

export class GameList {
  total = $state<number | null>(null);
  labels = $state.raw<LabelCount[]>([]);
  /** The number of imported duplicates that wait for a decision. */
  undecided = $state(0);
  /** The error of an invalid query, such as an incomplete move. */
  error = $state('');
  private parts = $state.raw(new Map<number, LibraryGame[]>());
  private query: Query | null = null;
  /** Counts the queries: answers to earlier ones are dropped. */
  private round = 0;
  private readonly asked = new Set<number>();

  /** The game of a row, if it is loaded. */
  at(row: number): LibraryGame | undefined {
    return this.parts.get(Math.floor(row / PART))?.[row % PART];
  }

  rowOf(game: number): number | null {
    for (const [part, games] of this.parts) {
      const at = games.findIndex(({ id }) => id === game);
      if (at >= 0) return part * PART + at;
    }
    return null;
  }

  /** The games that are loaded, of all parts. */
  get loaded(): LibraryGame[] {
    return [...this.parts].toSorted(([a], [b]) => a - b).flatMap(([, games]) => games);
  }

  /** Searches. The earlier games are shown until the answer arrives. */
  async search(query: Query, first: number) {
    this.query = query;
    this.round += 1;
    this.asked.clear();
    await this.load(Math.floor(first / PART), true);
  }

  /** Loads the rows of a range that are not loaded yet. */
  need(from: number, to: number) {
    for (let part = Math.floor(from / PART); part <= Math.floor(Math.max(from, to - 1) / PART); part += 1) {
      if (!this.parts.has(part) && !this.asked.has(part)) void this.load(part, false);
    }
  }

  private async load(part: number, again: boolean) {
    const { query, round } = this;
    if (!query) return;
    this.asked.add(part);
    let found: LibraryPage | null = null;
    let why = '';
    try {
      found = await post<LibraryPage>('library/search', { ...query, offset: part * PART, limit: PART });
    } catch (thrown) {
      why = reasonOf(thrown);
    }
    if (round !== this.round) return;
    this.error = why;
    if (!found) {
      this.asked.delete(part);
      if (again) [this.parts, this.total] = [new Map(), 0];
      return;
    }
    const { games, total, labels, undecided } = found;
    // A game that was added in the meantime moves the others.
    const others = again || total !== this.total ? [] : this.parts;
    if (total !== this.total) {
      this.asked.clear();
      this.asked.add(part);
    }
    this.parts = new Map([...others, [part, games]]);
    [this.total, this.labels, this.undecided] = [total, labels, undecided];
  }
}
