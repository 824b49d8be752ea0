import { beforeEach, expect, test, vi } from 'vitest';
import type { OutcomeView, Problem, Score, Termination } from '../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import { prefs } from '../app/prefs.svelte';
import { en } from './en';
import { ja } from './ja';
import {
  detailText,
  failureText,
  momentText,
  outcomeText,
  problemText,
  errorText,
  scoreSpoken,
} from './format';

beforeEach(() => {
  prefs.language = 'ja';
});

const outcome = (termination: Termination, more: Partial<OutcomeView> = {}): OutcomeView => ({
  result: '1-0',
  termination,
  detail: null,
  problem: null,
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

test('translates details of an engine failure', () => {
  const problem: Problem = { kind: 'in_check', values: { move: 'e1e2' }, variant: null };
  const detail = 'illegal move `e1e2`: the king would be in check';
  expect(detailText(outcome('illegal-move', { detail, problem }))).toBe('e1e2: キング(玉)に王手がかかります');
  expect(detailText(outcome('engine-failure', { detail: 'signal: 6' }))).toBe('signal: 6');
  expect(detailText(outcome('checkmate'))).toBe('');
  const claim: Problem = { kind: 'by_mate_claim', values: {}, variant: null };
  const claimed = outcome('adjudication', { detail: 'by a trusted claim of mate', problem: claim });
  expect(detailText(claimed)).toBe('信頼する詰みの宣言による');
});

test('translates a failure and appends the last stderr line', () => {
  const problem: Problem = { kind: 'exited', values: { code: '3', last_words: 'no network' }, variant: null };
  const text = 'engine `X`: closed its output; it exited with code 3; last stderr line: `no network`';
  expect(failureText({ text, problem })).toBe('コード3で終了しました。最後の出力: no network');
});

test('names squares, pieces and sides by variant', () => {
  const shogi: Problem = { kind: 'dead_piece', values: { piece: 'p', square: '5a' }, variant: 'shogi' };
  expect(problemText(shogi)).toBe('５一に歩は置けません');
  const pawns: Problem = { kind: 'two_pawns', values: { side: 'second', file: '3' }, variant: 'shogi' };
  expect(problemText(pawns)).toBe('二歩です(後手、3筋)');
  const field: Problem = { kind: 'missing_field', values: { field: 'hands' }, variant: 'shogi' };
  expect(problemText(field)).toBe('持ち駒がありません');
  prefs.language = 'en';
  const chess: Problem = { kind: 'too_much_material', values: { side: 'first' }, variant: 'chess' };
  expect(problemText(chess)).toBe('White has more pieces than possible in a game');
});

test('uses the Japanese text of a violation', () => {
  const broke: Problem = {
    kind: 'broke_protocol',
    values: { engine: 'Rogue', text: 'nothing follows it', japanese: '後には何も送らない' },
    variant: null,
  };
  expect(problemText(broke)).toBe('Rogue: プロトコル違反: 後には何も送らない');
  prefs.language = 'en';
  expect(problemText(broke)).toBe('Rogue: protocol violation: nothing follows it');
});

test('translates the cause of a problem', () => {
  const restarted: Problem = {
    kind: 'restarted',
    values: { engine: 'Rogue', text: 'English' },
    variant: null,
    cause: { kind: 'exited', values: { code: '3' }, variant: null },
  };
  expect(problemText(restarted)).toBe('Rogue: 再起動しました: コード3で終了しました');
});

test('translates an error response', () => {
  const problem: Problem = { kind: 'second_pawn', values: { move: 'P*5e' }, variant: null };
  expect(errorText({ code: 'illegal_move', text: 'English', problem })).toBe(
    '指せない手です: P*5e: 二歩です',
  );
  const system: Problem = { kind: 'system', values: { text: 'disk full' }, variant: null };
  expect(errorText({ code: 'storage', text: 'English', problem: system })).toBe(
    '保存: システムからの報告: disk full',
  );
});

test('includes location, engine and subject of a problem', () => {
  const place = { path: 'a.pgn', game: '2', line: '3', column: '13' };
  const illegal: Problem = { kind: 'no_move_meant', values: { ...place, text: 'Ke3' }, variant: 'chess' };
  expect(problemText(illegal)).toBe('a.pgn, 第2局, 3行目, 13文字目: 「Ke3」は指せる手ではありません');
  const failed: Problem = { kind: 'has_failed', values: { engine: 'Rogue', count: '2' }, variant: null };
  expect(problemText(failed)).toBe('Rogue: 2回失敗しました');
  const none: Problem = { kind: 'no_such', values: { name: '' }, variant: null, what: 'file' };
  expect(problemText(none)).toBe('指定されたファイルがありません');
  prefs.language = 'en';
  expect(problemText(illegal)).toBe('a.pgn, game 2, line 3, column 13: illegal move: Ke3');
  expect(problemText({ ...none, values: { name: '7' }, what: 'match' })).toBe('match not found: 7');
  expect(problemText(none)).toBe('file not found');
});

// Terms of protocols, formats and systems that are not translated.
const TERMS = /isready|stop|SIGFPE|SIGABRT|SIGKILL|Polyglot|UTF-8|EPD|CPU|MiB|H[01]/g;

test('translates all codes of the server to Japanese', () => {
  const texts = Object.entries(ja).filter(([key]) =>
    /^(problem|what|place|termination|error|field)\./.test(key),
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
