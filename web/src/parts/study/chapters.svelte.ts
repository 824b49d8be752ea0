// The chapters of a study, with the changes that the server has not answered yet.
import { tick } from 'svelte';
import type { Chapter, Chapters, CollectionEdit, Selection } from '../../api/wire';
import { t } from '../../i18n/index.svelte';
import { post } from '../../store/http';
import { act, showError } from '../../store/server.svelte';
import { chooser } from '../common/chooser.svelte';
import type { MenuItem } from '../common/Menu.svelte';
import { allStudies, changed, merge } from './studies.svelte';

export class StudyChapters {
  readonly id: number;
  shown = $state.raw<Chapters | null>(null);
  /** A text to find. */
  text = $state('');
  /** The chapter whose name is edited. */
  editing = $state<number | null>(null);
  /** Sent changes without an answer, and all requests: an earlier state is not shown. */
  #pending = 0;
  #requests = 0;

  constructor(id: number) {
    this.id = id;
  }

  /** The chapters that contain the text, with their places. */
  get found(): [Chapter, number][] {
    const { chapters, found } = this.shown ?? { chapters: [], found: null };
    const all = chapters.map((chapter, at): [Chapter, number] => [chapter, at]);
    if (!found) return all;
    const ids = new Set(found);
    return all.filter(([{ id }]) => ids.has(id));
  }

  async load() {
    const request = ++this.#requests;
    try {
      const query = { collection: this.id, text: this.text.trim() || null };
      const found = await post<Chapters>('library/chapters', query);
      if (!this.#pending && request === this.#requests) this.shown = found;
    } catch (error) {
      showError(error);
    }
  }

  async change(edit: CollectionEdit<Selection>) {
    this.#pending += 1;
    this.#requests += 1;
    await act({ kind: 'edit_collection', edit });
    this.#pending -= 1;
    changed();
  }

  rename(name: string) {
    return this.change({ kind: 'rename', collection: this.id, name });
  }

  /** Shows other chapters until the server answers. */
  #arrange(chapters: Chapter[]) {
    if (this.shown) this.shown = { ...this.shown, chapters };
  }

  /** Moves the chapter at a place to another one. */
  move(at: number, to: number) {
    const chapters = [...(this.shown?.chapters ?? [])];
    const moved = chapters.splice(at, 1);
    const [chapter] = moved;
    if (!chapter || at === to) return;
    chapters.splice(to, 0, ...moved);
    this.#arrange(chapters);
    void this.change({ kind: 'move_chapter', chapter: chapter.id, place: to });
  }

  remove(at: number) {
    const chapters = [...(this.shown?.chapters ?? [])];
    const [chapter] = chapters.splice(at, 1);
    if (!chapter) return;
    this.#arrange(chapters);
    void this.change({ kind: 'remove_chapter', chapter: chapter.id });
  }

  /** Ends the edit of a name, which can be unchanged. */
  renameChapter({ id, name }: Chapter, draft: string) {
    if (this.editing !== id) return;
    this.editing = null;
    if (draft.trim() && draft !== name)
      void this.change({ kind: 'rename_chapter', chapter: id, name: draft });
  }

  async duplicate({ game }: Chapter) {
    if (await act({ kind: 'copy_chapter', game: game.id, collection: this.id })) changed();
  }

  /** Asks for another study, which gets the chapter as its last one. */
  async moveToStudy({ id }: Chapter) {
    const others = (await allStudies()).filter((study) => study.id !== this.id);
    const to = await chooser.ask(
      t('chapter.move_to'),
      others.map((study) => [study.id, study.name]),
    );
    const place = others.find((study) => study.id === to)?.chapters;
    if (place !== undefined && to !== null)
      await this.change({ kind: 'move_chapter', chapter: id, place, collection: to });
  }

  /** Adds the moves of a chapter to another one. */
  async merge({ game }: Chapter, into: number) {
    await merge(into, { kind: 'games', games: [game.id] });
    changed();
  }

  /** Adds a chapter with the moves of all chapters in one tree. Answers with its game. */
  async mergeAll(): Promise<number | null> {
    const game = await merge(null, { kind: 'collection', id: this.id });
    if (game === null) return null;
    const of = { kind: 'games' as const, games: [game] };
    await this.change({ kind: 'add', collection: this.id, of, place: 0 });
    return game;
  }

  /** The commands for the chapter at a place. `open` is the game on the board; `onmove` follows a move. */
  items(at: number, open: number | null, onmove: () => void): MenuItem[] {
    const chapters = this.shown?.chapters ?? [];
    const chapter = chapters[at];
    if (!chapter) return [];
    const to = (place: number) => () => {
      this.move(at, place);
      onmove();
    };
    const target = chapters.find(({ game }) => game.id === open && game.id !== chapter.game.id);
    const merges: MenuItem = {
      label: t('chapter.merge', { name: target?.name ?? '' }),
      icon: 'import',
      run: () => target && void this.merge(chapter, target.game.id),
    };
    return [
      { label: t('chapter.rename'), icon: 'edit', run: () => (this.editing = chapter.id) },
      { label: t('chapter.up'), icon: 'up', disabled: at === 0, run: to(at - 1) },
      {
        label: t('chapter.down'),
        icon: 'down',
        disabled: at === chapters.length - 1,
        run: to(at + 1),
      },
      { label: t('chapter.duplicate'), icon: 'copy', run: () => void this.duplicate(chapter) },
      { label: t('chapter.move_to'), icon: 'folder', run: () => void this.moveToStudy(chapter) },
      ...(target ? [merges] : []),
      { label: t('chapter.remove'), icon: 'cross', run: () => this.remove(at) },
    ];
  }
}

/** Moves the focus to the name of a chapter: rows that move or are replaced lose it. */
export async function focusChapter(list: HTMLElement | undefined, chapter: number | undefined) {
  await tick();
  list?.querySelector<HTMLElement>(`[data-chapter="${chapter}"] a`)?.focus();
}
