import { beforeEach, expect, test, vi } from 'vitest';
import type { ErrorInfo, OutcomeView, Score, Termination } from '../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import { prefs } from '../app/prefs.svelte';
import { en } from './en';
import { loadLanguage } from './index.svelte';
import { ja } from './ja';
import {
  detailText,
  handicapName,
  errorInfoText,
  momentText,
  outcomeText,
  errorText,
  scoreSpoken,
  sideName,
} from './format';

beforeEach(async () => {
  prefs.language = 'ja';
  await loadLanguage('ja');
});

const outcome = (termination: Termination, more: Partial<OutcomeView> = {}): OutcomeView => ({
  result: '1-0',
  termination,
  detail: null,
  ...more,
});

test('translates each result to Japanese', () => {
  const reasons = Object.keys(en).flatMap(
    (key) => (/^termination\.(.*)$/.exec(key)?.[1] ?? []) as Termination[],
  );
  expect(reasons).toContain('wrong-declaration');
  for (const reason of reasons) expect(outcomeText(outcome(reason), 'shogi')).not.toMatch(/[a-z]{3}/);
});

test('shows a result without a reason', () => {
  expect(outcomeText(outcome('other'), 'shogi')).toBe('先手の勝ち');
  prefs.language = 'en';
  expect(outcomeText(outcome('other'), 'chess')).toBe('White won');
  expect(outcomeText(outcome('other', { result: '1/2-1/2' }), 'chess')).toBe('Draw');
  expect(outcomeText(outcome('other', { result: '*' }), 'chess')).toBe('No result');
});

test('shows a mate score without a distance', () => {
  const mate = (won: boolean, plies: number | null) =>
    scoreSpoken({ kind: won ? 'mate' : 'mated', plies } as Score, 'shogi');
  expect([mate(true, 7), mate(false, 6)]).toEqual(['7手で詰み', '6手で詰まされる']);
  expect([mate(true, null), mate(false, null)]).toEqual(['詰みあり', '詰まされる']);
  prefs.language = 'en';
  expect([mate(true, null), mate(false, null)]).toEqual(['forced mate', 'gets mated']);
});

test('names the sides of a handicap game', () => {
  expect(outcomeText(outcome('checkmate'), 'shogi', true)).toBe('下手の勝ち:詰み');
  expect(outcomeText(outcome('checkmate'), 'chess')).toBe('白の勝ち:チェックメイト');
  expect(sideName('second', 'shogi', true)).toBe('上手');
  expect(sideName('first', 'chess', true)).toBe('白');
  prefs.language = 'en';
  expect(sideName('first', 'shogi', true)).toBe('Black (shitate)');
});

test('translates details of an outcome', () => {
  const detail: ErrorInfo = { code: 'king_in_check', context: { move: 'e1e2' } };
  expect(detailText(outcome('illegal-move', { detail }))).toBe('e1e2: キングにチェックがかかります');
  const shogi: ErrorInfo = { code: 'king_in_check', context: { variant: 'shogi' } };
  expect(detailText(outcome('illegal-move', { detail: shogi }))).toBe('玉に王手がかかります');
  expect(detailText(outcome('checkmate'))).toBe('');
  const claimed = outcome('adjudication', { detail: { code: 'mate_adjudication' } });
  expect(detailText(claimed)).toBe('信頼する詰みの宣言による');
});

test('appends the last stderr line to a failure', () => {
  const details = [{ detail: 'stderr', line: 'no network' } as const];
  const error: ErrorInfo = { code: 'exited', status: 3, context: { details } };
  expect(errorInfoText(error)).toBe('コード3で終了しました。最後の出力: 「no network」');
});

test('names squares, pieces and sides by variant', () => {
  const context = { variant: 'shogi' } as const;
  expect(errorInfoText({ code: 'dead_piece', piece: 'p', square: '5a', context })).toBe(
    '５一に歩は置けません',
  );
  expect(errorInfoText({ code: 'two_pawns', side: 'second', file: 3, context })).toBe('二歩です(後手、3筋)');
  expect(errorInfoText({ code: 'missing_field', field: 'hands', context })).toBe('持ち駒がありません');
  prefs.language = 'en';
  const chess: ErrorInfo = { code: 'too_much_material', side: 'first', context: { variant: 'chess' } };
  expect(errorInfoText(chess)).toBe('White has more pieces than promotions allow');
});

test('uses the Japanese text of a violation', () => {
  const violation: ErrorInfo = {
    code: 'protocol_violation',
    cause: { english: 'nothing follows it', japanese: '後には何も送らない' },
    context: { engine: 'Rogue' },
  };
  expect(errorInfoText(violation)).toBe('Rogue: プロトコル違反: 後には何も送らない');
  prefs.language = 'en';
  expect(errorInfoText(violation)).toBe('Rogue: protocol violation: nothing follows it');
});

test('translates the cause of an error', () => {
  const restarted: ErrorInfo = {
    code: 'restarted',
    cause: { code: 'exited', status: 3 },
    context: { engine: 'Rogue' },
  };
  expect(errorInfoText(restarted)).toBe('Rogue: 再起動しました: コード3で終了しました');
});

test('translates an error response', () => {
  const error: ErrorInfo = { code: 'second_pawn_on_file', context: { move: 'P*5e' } };
  expect(errorText({ category: 'illegal_move', error })).toBe('指せない手です: P*5e: 二歩です');
  const system: ErrorInfo = { code: 'system', text: 'disk full' };
  expect(errorText({ category: 'storage', error: system })).toBe('保存: システムからの報告: disk full');
});

test('includes location, engine and subject of an error', () => {
  const context = { path: 'a.pgn', game: 2, line: 3, column: 13 };
  const illegal: ErrorInfo = { code: 'no_matching_move', text: 'Ke3', context };
  expect(errorInfoText(illegal)).toBe('a.pgn, 第2局, 3行目, 13文字目: 「Ke3」は指せる手ではありません');
  const cut: ErrorInfo = { ...illegal, context: { line: 3, kept: { line: 'main', plies: 2 } } };
  expect(errorInfoText(cut)).toBe('3行目: 「Ke3」は指せる手ではありません(本譜は2手目まで読み込みました)');
  const failed: ErrorInfo = { code: 'engine_failures', count: 2, context: { engine: 'Rogue' } };
  expect(errorInfoText(failed)).toBe('Rogue: 2回失敗しました');
  const missing: ErrorInfo = { code: 'not_found', subject: 'file' };
  expect(errorInfoText(missing)).toBe('指定されたファイルが見つかりません');
  prefs.language = 'en';
  expect(errorInfoText(illegal)).toBe('a.pgn, game 2, line 3, column 13: `Ke3` is not a legal move');
  expect(errorInfoText({ code: 'unknown_name', subject: 'match', name: '7' })).toBe('match not found: 7');
  expect(errorInfoText(missing)).toBe('file not found');
});

// Terms of protocols, formats and systems that are not translated.
const TERMS = /isready|stop|SIGFPE|SIGABRT|SIGKILL|Polyglot|Syzygy|UTF-8|API|EPD|CPU|MiB|H[01]/g;

test('translates all codes of the server to Japanese', () => {
  const texts = Object.entries(ja).filter(([key]) =>
    /^(error|category|subject|location|termination|field|detail|exit_cause|operation)\./.test(key),
  );
  expect(texts.length).toBeGreaterThan(200);
  const english = texts.filter(([, text]) =>
    /[a-z]{2}/i.test(text.replace(/\{\w+\}/g, '').replace(TERMS, '')),
  );
  expect(english).toEqual([]);
});

test('formats dates by the region of the browser and the language of the page', () => {
  const at = Date.UTC(2026, 10, 23, 12);
  vi.stubGlobal('navigator', { languages: ['de-AT', 'en-GB', 'en'] });
  expect(momentText(at)).toMatch(/^2026/);
  prefs.language = 'en';
  expect(momentText(at)).toContain('23 Nov 2026');
  vi.stubGlobal('navigator', { languages: ['en-US'] });
  expect(momentText(at)).toContain('Nov 23, 2026');
});

test('names handicaps', () => {
  const two = { name: 'two pieces', japanese: '二枚落ち', sfen: '' };
  expect(handicapName(two)).toBe('二枚落ち');
  prefs.language = 'en';
  expect(handicapName(two)).toBe('2-piece');
  expect(handicapName({ ...two, name: 'left five pieces' })).toBe('Left 5-piece');
  expect(handicapName({ ...two, name: 'rook and lance' })).toBe('Rook and lance');
});
