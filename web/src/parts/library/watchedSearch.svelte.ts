// A search of the library that shows how far it is when it takes long, and can be cancelled.
import type { LibraryPage, LibraryQuery, SearchProgress } from '../../api/wire';
import { post } from '../../store/http';

/** Milliseconds before a search is long, and between the questions how far it is. */
const INTERVAL = 500;

export class WatchedSearch {
  /** Whether a search runs that takes long. */
  long = $state(false);
  /** How far it is; null if unknown. */
  progress = $state.raw<SearchProgress | null>(null);
  private abort: AbortController | null = null;

  /** Searches in place of the search that runs. Null if the search was cancelled or replaced itself. */
  async run(query: Omit<LibraryQuery, 'ticket'>): Promise<LibraryPage | null> {
    this.cancel();
    const abort = new AbortController();
    this.abort = abort;
    const ticket = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const timer = setInterval(() => {
      this.long = true;
      post<SearchProgress | null>('library/progress', { ticket }, abort.signal).then(
        (progress) => {
          if (this.abort === abort) this.progress = progress;
        },
        // The search itself reports errors.
        () => {},
      );
    }, INTERVAL);
    try {
      return await post<LibraryPage>('library/search', { ...query, ticket }, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    } finally {
      clearInterval(timer);
      if (this.abort === abort) this.end();
    }
  }

  cancel() {
    this.abort?.abort();
    this.end();
  }

  private end() {
    [this.abort, this.long, this.progress] = [null, false, null];
  }
}
