// Formats moves, pieces, scores, times and errors.
import type {
  Bound,
  EngineFailureDetail,
  HandicapChoice,
  ErrorInfo,
  ExitCause,
  FileOperation,
  GameResult,
  LocalizedText,
  MoveText,
  OutcomeView,
  PositionField,
  ApiError,
  Score,
  Side,
  ErrorSubject,
  Variant,
  OnlineService,
} from '../api/wire';
import { hasKanji, language, prefs } from '../app/prefs.svelte';
import { CHESS_ROLES, SHOGI_ROLES, VARIANTS, type Piece } from '../board/squares';
import { known, ofVariant, t } from './index.svelte';

/** A move in the preferred notation. */
export function moveText(text: MoveText): string {
  if (!text.japanese) return prefs.figurines === 'true' ? figurines(text.western) : text.western;
  const japanese =
    prefs.notation === 'japanese' || (prefs.notation === 'auto' && (language() === 'ja' || hasKanji()));
  return japanese ? text.japanese : text.western;
}

const FIGURINES: Record<string, string> = { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' };

/** Replaces the letters of pieces by figurines. */
export const figurines = (san: string) => san.replace(/[KQRBN]/g, (letter) => FIGURINES[letter] ?? letter);

const KANJI = '一二三四五六七八九';

/** A square: `e4`; `7f`, or `７六` in Japanese. */
export function squareName(square: string, shogi: boolean): string {
  if (!shogi || language() !== 'ja') return square;
  const rank = KANJI['abcdefghi'.indexOf(square[1] ?? '')] ?? '';
  return `${'０１２３４５６７８９'[Number(square[0])] ?? ''}${rank}`;
}

export function roleName(letter: string, shogi: boolean): string {
  const role = shogi ? SHOGI_ROLES[letter] : CHESS_ROLES[letter];
  const key = `${shogi ? 'shogi' : 'chess'}.${role}`;
  return known(key) ? t(key) : letter;
}

/** A side; in a handicap game of shogi, shitate and uwate instead of sente and gote. */
export function sideName(side: Side, variant: Variant, handicap = false): string {
  if (variant === 'shogi' && handicap) return t(side === 'first' ? 'side.shitate' : 'side.uwate');
  if (variant === 'shogi') return t(side === 'first' ? 'side.sente' : 'side.gote');
  return t(side === 'first' ? 'side.white' : 'side.black');
}

const COUNTS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** A handicap of shogi, such as “Lance” or “2-piece”. */
export function handicapName({ name, japanese }: HandicapChoice): string {
  if (language() === 'ja') return japanese;
  const short = name.replace(/(\w+) pieces$/, (all, count: string) => {
    const number = COUNTS.indexOf(count);
    return number < 0 ? all : `${number}-piece`;
  });
  return short.charAt(0).toUpperCase() + short.slice(1);
}

export function pieceName(piece: Piece, shogi: boolean, handicap = false): string {
  const side = sideName(piece.side, shogi ? 'shogi' : 'chess', handicap);
  return t('board.piece', { side, piece: roleName(piece.letter, shogi) });
}

/** Converts a score of the side to move to one of the first side. */
export function fromFirst(score: Score, turn: Side): Score {
  if (turn === 'first') return score;
  if (score.kind === 'cp') return { kind: 'cp', value: -score.value };
  return { kind: score.kind === 'mate' ? 'mated' : 'mate', plies: score.plies };
}

/** A short score: `+0.34`, `#5`, `#−3`; in shogi `+34`, `詰5`. */
export function scoreText(score: Score, variant: Variant, bound: Bound = 'exact'): string {
  const mark = bound === 'lower' ? '≥' : bound === 'upper' ? '≤' : '';
  if (score.kind !== 'cp') {
    const sign = score.kind === 'mate' ? '' : '−';
    const plies = score.plies;
    // Mate on the board: the sign would repeat the winner.
    if (plies === 0) return variant === 'shogi' ? t('score.mate').trim() : '#';
    if (variant === 'shogi') return `${sign}${t('score.mate')}${plies ?? ''}`;
    return `${sign}#${plies === null ? '' : Math.ceil(plies / 2)}`;
  }
  const sign = score.value > 0 ? '+' : score.value < 0 ? '−' : '';
  const size = Math.abs(score.value);
  return `${mark}${sign}${variant === 'shogi' ? size : (size / 100).toFixed(2)}`;
}

/** Winning chances of the side of the score in percent, for bars and graphs only. */
export function chances(score: Score, variant: Variant): number {
  if (score.kind !== 'cp') return score.kind === 'mate' ? 100 : 0;
  // Shogi engines scale scores differently.
  const steepness = variant === 'shogi' ? 1 / 600 : 0.00368208;
  return 100 / (1 + Math.exp(-score.value * steepness));
}

/** A score for screen readers. */
export function scoreSpoken(score: Score, variant: Variant): string {
  if (score.kind !== 'cp') {
    const { plies } = score;
    const mates = score.kind === 'mate';
    // The distance to mate may be unknown.
    if (plies === null) return t(mates ? 'score.mating' : 'score.losing');
    const moves = variant === 'shogi' ? plies : Math.ceil(plies / 2);
    return t(mates ? 'score.mates' : 'score.mated', { moves });
  }
  return scoreText(score, variant);
}

/** Milliseconds in clock format. */
export function clockText(milliseconds: number): string {
  const rest = Math.max(0, milliseconds);
  // Seconds are rounded up; below 20 seconds tenths are shown.
  if (rest < 20_000) return `0:${(Math.floor(rest / 100) / 10).toFixed(1).padStart(4, '0')}`;
  const seconds = Math.ceil(rest / 1000);
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  const tail = String(seconds % 60).padStart(2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** A short count: `950`, `12.3k`, `4.56M`. */
export function countText(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)}k`;
  if (count < 1e9) return `${(count / 1e6).toFixed(count < 1e7 ? 2 : 1)}M`;
  return `${(count / 1e9).toFixed(2)}G`;
}

/** The variants for menus. */
export const variantOptions = () => VARIANTS.map((variant) => [variant, t(`variant.${variant}`)] as const);

export function winnerOf(result: GameResult): Side | null {
  return result === '1-0' ? 'first' : result === '0-1' ? 'second' : null;
}

export function outcomeText(outcome: OutcomeView, variant: Variant, handicap = false): string {
  const winner = winnerOf(outcome.result);
  const result = winner
    ? t('outcome.won', { side: sideName(winner, variant, handicap) })
    : t(outcome.result === '1/2-1/2' ? 'outcome.drawn' : 'outcome.none');
  // Most records contain no reason.
  if (outcome.termination === 'other') return result;
  const reason = t(ofVariant(`termination.${outcome.termination}`, variant));
  return t('outcome.because', { outcome: result, reason });
}

/** Details of a result in addition to its reason; may be empty. */
export function detailText(outcome: OutcomeView): string {
  return outcome.detail ? errorInfoText(outcome.detail) : '';
}

/** The text of an error, with squares, pieces and sides of its variant. */
export function errorInfoText({ code, context = {}, ...parameters }: ErrorInfo): string {
  const { variant = 'chess', engine, path, game, entry, line, column, move, kept, details = [] } = context;
  const values: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(parameters)) values[name] = parameterText(name, value, variant);
  const description = t(ofVariant(`error.${code}`, variant), values);
  const text = [description, ...details.map(engineDetailText)].join('').trim();
  const numbers = Object.entries({ game, entry, line, column })
    .filter(([, number]) => number !== undefined)
    .map(([name, number]) => t(`location.${name as 'line'}`, { [name]: number ?? 0 }));
  const location = [path, ...numbers].filter(Boolean).join(', ');
  const whole = kept ? t(`kept.${kept.line}`, { text, plies: kept.plies }) : text;
  return [engine, location, move, whole].filter(Boolean).join(': ');
}

/** A detail after the text of an engine failure. */
function engineDetailText(detail: EngineFailureDetail): string {
  if (detail.detail === 'exit') return t('detail.exit', { exit: errorInfoText(detail.exit) });
  if (detail.detail === 'timeout') return t('detail.timeout', { timeout_ms: detail.timeout_ms / 1000 });
  return t(`detail.${detail.detail}`, { ...detail });
}

/** A parameter of an error. Names state the type of the value. */
function parameterText(name: string, value: unknown, variant: Variant): string | number {
  const shogi = variant === 'shogi';
  if (name === 'choices') return (value as string[]).map((text) => t('text.quoted', { text })).join(', ');
  if (Array.isArray(value)) return value.join(', ');
  if (value === null) return name === 'min' ? '-∞' : '∞';
  if (typeof value === 'object' && value) {
    if ('code' in value) return errorInfoText(value as ErrorInfo);
    const text = value as LocalizedText;
    return language() === 'ja' ? text.japanese : text.english;
  }
  if (name === 'side') return sideName(value as Side, variant);
  if (name === 'square') return squareName(String(value), shogi);
  if (name === 'piece') return roleName(String(value).toUpperCase(), shogi);
  if (name === 'field') return t(`field.${value as PositionField}`);
  if (name === 'operation') return t(`operation.${value as FileOperation}`);
  if (name === 'exit_cause') return t(`exit_cause.${value as ExitCause}`);
  if (name === 'variant') return t(`variant.${value as Variant}`);
  const key = `${name}.${String(value)}`;
  if (name === 'termination' && known(key)) return t(ofVariant(key, variant));
  if (name === 'subject') return t(`subject.${value as ErrorSubject}`);
  if (name === 'host') return t(`host.${value as OnlineService}`);
  return typeof value === 'number' ? value : String(value);
}

export function errorText({ category, error }: ApiError): string {
  return `${t(`category.${category}`)} ${errorInfoText(error)}`;
}

/** The language of the user, with the region of the browser, which determines the formats of dates and times. */
const ownLocale = () => navigator.languages.find((one) => one.split('-')[0] === language()) ?? language();

/** Date and time in the user's language. */
export const momentText = (at: number) =>
  new Date(at).toLocaleString(ownLocale(), { dateStyle: 'medium', timeStyle: 'short' });

/** The time of the day in the user's language. */
export const timeOfDayText = (at: number) =>
  new Date(at).toLocaleTimeString(ownLocale(), { timeStyle: 'medium' });
