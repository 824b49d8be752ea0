// An attempt at an exercise: the position on the board, the moves so far, hints and the solution.
import type { Exercise, LineMove, Mark, NumberedLine, PositionView } from '../../api/wire';
import { animated } from '../../app/prefs.svelte';
import { play as playSound } from '../../app/sounds';
import { announce } from '../../app/toasts.svelte';
import { moveArrow } from '../../board/arrows';
import { moveText, roleName, squareName } from '../../i18n/format';
import { t } from '../../i18n/index.svelte';
import { reasonOf, request } from '../../store/server.svelte';

/** How long the position before the move of the opponent is shown, in milliseconds. */
const BEFORE = 450;

export class Attempt {
  readonly exercise: Exercise;
  view = $state.raw<PositionView | null>(null);
  /** The position before the first move of `lead`. */
  #start = '';
  /** The moves that led to the position of the exercise. */
  lead = $state.raw<NumberedLine>({ first_number: 1, first_turn: 'first', moves: [] });
  intervals = $state.raw<number[]>([]);
  /** The moves of both sides so far. */
  moves = $state.raw<string[]>([]);
  /** The first own move that was right. */
  answer = $state.raw<LineMove | null>(null);
  verdict = $state('');
  right = $state(true);
  busy = $state(false);
  failed = $state(false);
  hinted = $state(false);
  solved = $state(false);
  /** Whether the solution is shown, not only the piece to move. */
  revealed = $state(false);
  error = $state('');
  /** When the position was shown. */
  shownAt = 0;
  /** The rest of the solution from the current position. */
  #line = $state.raw<LineMove[]>([]);
  /** The move of the opponent that is about to be shown. */
  #opponent: Promise<void> = Promise.resolve();
  /** The search for the solution. */
  #search: Promise<unknown> = Promise.resolve();
  /** Whether the opponent is about to move. */
  #waits = $state(false);

  constructor(exercise: Exercise) {
    this.exercise = exercise;
  }

  get repertoire() {
    return this.exercise.kind === 'repertoire';
  }

  get over() {
    return this.solved || this.revealed;
  }

  get line() {
    return this.#line;
  }

  get movable() {
    return this.solved || this.busy || this.#waits ? null : this.exercise.side;
  }

  get ply() {
    return this.lead.moves.length + this.moves.length;
  }

  /** The position on the board with the moves that led to it, as a start of a game. */
  get startText() {
    const moves = [...this.lead.moves.map((move) => move.uci), ...this.moves];
    return moves.length ? `${this.#start} moves ${moves.join(' ')}` : this.#start;
  }

  // Not getters: the board compares them.
  readonly arrows = $derived.by(() => {
    const [first] = this.#line;
    return this.view && this.revealed && !this.solved ? moveArrow(this.view, first?.uci, 'hint') : [];
  });

  readonly #hint = $derived.by(() => {
    const [first] = this.#line;
    if (this.revealed || !this.hinted) return undefined;
    return this.view?.legal.find((move) => move.uci === first?.uci);
  });

  readonly marks: Mark[] = $derived.by(() => {
    const from = this.#hint?.from;
    return from ? [{ color: 'green', from, to: null }] : [];
  });

  get hintText() {
    const hint = this.#hint;
    const shogi = this.exercise.variant === 'shogi';
    if (!hint) return '';
    return hint.drop
      ? t('training.hint.drop', { piece: roleName(hint.drop, shogi) })
      : t('training.hint.from', { square: squareName(hint.from ?? '', shogi) });
  }

  /** Loads the position. The move of the opponent is shown first. */
  async load() {
    try {
      const answer = await request({ kind: 'open_exercise', id: this.exercise.id });
      if (answer.kind !== 'exercise_position') return;
      [this.intervals, this.#start, this.lead] = [answer.intervals, answer.start, answer.line];
      if (answer.before && animated() && !this.moves.length) {
        this.view = { ...answer.before, legal: [] };
        this.#waits = true;
        this.#opponent = new Promise((done) => setTimeout(done, BEFORE));
        await this.#opponent;
        this.#waits = false;
      }
      this.view = answer.position;
      this.shownAt = Date.now();
    } catch (thrown) {
      this.error = reasonOf(thrown);
    }
  }

  /** Tries a move. Returns whether it is legal. */
  async play(text: string): Promise<boolean> {
    // A move can be entered early, also while a hint is searched for.
    await Promise.all([this.#opponent, this.#search]);
    if (this.busy || this.solved || !this.view) return false;
    this.busy = true;
    this.error = '';
    this.verdict = t('training.checking');
    this.right = true;
    try {
      const sent = { kind: 'try_exercise', id: this.exercise.id, moves: this.moves, text } as const;
      const answer = await request(sent);
      if (answer.kind !== 'exercise_tried') return false;
      const { attempt } = answer;
      const move = moveText(attempt.move.text);
      this.right = attempt.right;
      if (!attempt.right) {
        this.failed = true;
        const percent = (attempt.loss ?? 0).toFixed(0);
        const why = this.repertoire ? 'training.not_in_repertoire' : 'training.wrong';
        const reason =
          attempt.loss !== null
            ? t('report.loses', { percent })
            : t(attempt.longer ? 'training.longer' : why);
        this.verdict = `${move}: ${reason}`;
        return true;
      }
      this.moves = [...this.moves, attempt.move.uci, ...(attempt.reply ? [attempt.reply.uci] : [])];
      this.answer ??= attempt.move;
      this.view = attempt.position;
      this.solved = attempt.solved;
      this.#line = this.revealed ? this.#line.slice(attempt.reply ? 2 : 1) : [];
      const reply = attempt.reply ? moveText(attempt.reply.text) : '';
      this.verdict = this.solved ? t('training.solved', { move }) : t('training.right', { move, reply });
      playSound(this.solved ? 'end' : 'move');
      return true;
    } catch (thrown) {
      this.verdict = '';
      this.error = reasonOf(thrown);
      announce(this.error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  async #solution(): Promise<boolean> {
    if (this.#line.length || this.busy || this.solved) return this.#line.length > 0;
    this.busy = true;
    try {
      const search = request({
        kind: 'solve_exercise',
        id: this.exercise.id,
        moves: this.moves,
      });
      this.#search = search.catch(() => undefined);
      const answer = await search;
      if (answer.kind === 'exercise_solution') this.#line = answer.line;
    } catch (thrown) {
      this.error = reasonOf(thrown);
    } finally {
      this.busy = false;
    }
    return this.#line.length > 0;
  }

  async hint() {
    if (!this.over && (await this.#solution())) this.hinted = true;
  }

  async reveal() {
    if (this.over || !(await this.#solution())) return;
    [this.revealed, this.failed] = [true, true];
  }

  restart() {
    [this.moves, this.#line, this.verdict, this.solved, this.revealed] = [[], [], '', false, false];
    this.failed = true;
    void this.load();
  }
}
