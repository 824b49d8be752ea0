// The found games of the library, of which the parts that are visible are loaded.
import type { LabelCount, LibraryGame, LibraryPage, LibraryQuery, LibrarySource } from '../../api/wire';
import { post } from '../../store/http';
import { reasonOf } from '../../store/server.svelte';
import { blankFilter, filterOf, ORIGINS, type Origin } from './filter';
import { WatchedSearch } from './watchedSearch.svelte';

/** Number of games of a request. */
const PART = 100;

type Query = Omit<LibraryQuery, 'offset' | 'limit' | 'ticket'>;

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
      ticket: null,
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
  /** The search that was cancelled, if no other one has begun. */
  cancelled = $state.raw<Query | null>(null);
  /** The search that runs, if any. */
  readonly running = new WatchedSearch();
  private parts = $state.raw(new Map<number, LibraryGame[]>());
  /** That of the games in the list; null after an error. */
  query = $state.raw<Query | null>(null);
  /** Counts the queries: parts of earlier ones are dropped. */
  private round = 0;
  /** The search that the list waits for. */
  private wanted = $state.raw<Query | null>(null);
  private asked = new Set<number>();
  /** Whether the games may have changed since the search that runs began. */
  private repeat = false;

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

  /** Whether the games are those of an earlier search than the last one. */
  get outdated(): boolean {
    return this.wanted !== null || this.cancelled !== null;
  }

  /**
   * Searches. The earlier games are shown until the answer arrives. A search that runs is not begun again, but
   * repeated; one that was cancelled remains so.
   */
  async search(query: Query, first: number) {
    const text = JSON.stringify(query);
    if (this.wanted && JSON.stringify(this.wanted) === text) this.repeat = true;
    else if (!this.cancelled || JSON.stringify(this.cancelled) !== text) await this.begin(query, first);
  }

  /** Begins the search that was cancelled. */
  async resume() {
    if (this.cancelled) await this.begin(this.cancelled, 0);
  }

  private async begin(query: Query, first: number) {
    [this.wanted, this.cancelled, this.repeat] = [query, null, false];
    const part = Math.floor(first / PART);
    let found: LibraryPage | null = null;
    let why = '';
    try {
      found = await this.running.run({ ...query, offset: part * PART, limit: PART });
    } catch (thrown) {
      why = reasonOf(thrown);
    }
    // Another search has begun, or this one was cancelled.
    if (this.wanted !== query) return;
    this.wanted = null;
    this.error = why;
    this.round += 1;
    this.query = found && query;
    if (found) this.put(part, found, true);
    else [this.parts, this.total] = [new Map(), 0];
    if (this.repeat) await this.begin(query, first);
  }

  /** Cancels the search that runs. The earlier games remain. */
  cancel() {
    [this.wanted, this.cancelled] = [null, this.wanted];
    this.running.cancel();
  }

  /** Loads the rows of a range that are not loaded yet. */
  need(from: number, to: number) {
    for (let part = Math.floor(from / PART); part <= Math.floor(Math.max(from, to - 1) / PART); part += 1) {
      if (!this.parts.has(part) && !this.asked.has(part)) void this.load(part);
    }
  }

  private async load(part: number) {
    const { query, round } = this;
    if (!query) return;
    this.asked.add(part);
    const asked: LibraryQuery = { ...query, offset: part * PART, limit: PART, ticket: null };
    try {
      const found = await post<LibraryPage>('library/search', asked);
      // A game that was added in the meantime moves the others.
      if (round === this.round) this.put(part, found, found.total !== this.total);
    } catch (thrown) {
      if (round !== this.round) return;
      this.error = reasonOf(thrown);
      this.asked.delete(part);
    }
  }

  /** Stores the rows of a part, alone or in addition to the others. */
  private put(part: number, { games, total, labels, undecided }: LibraryPage, alone: boolean) {
    if (alone) this.asked = new Set([part]);
    this.parts = new Map([...(alone ? [] : this.parts), [part, games]]);
    [this.total, this.labels, this.undecided] = [total, labels, undecided];
  }
}
