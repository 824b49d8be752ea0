import { expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { language: 'en' });
const { blankPattern, isOfShogi, readPattern, withAlternative, writePattern } = await import('./pattern');

const CHESS = [
  '',
  'on=nf6,Nd5,-e4',
  'on=[bn]f6,aa4,Ab1',
  'pawns=8/pp3ppp/8/8/8/8/PPP2PPP/8',
  'on=Ke1 pawns=8/8/8/8/8/8/8/8',
  'R=1..2 r=2 p=..4 balance=-3..-1 bishops=opposite turn=w ply=20..60 for=8 flip=sides,files',
  'turn=b material=KRPvKR x=1',
  'R=3..1',
  'for=0',
];
const SHOGI = [
  'on=k1a,+r5b,!5e,P7f turn=b',
  'game=shogi +P=1.. P*=2 p*=..3 balance=5..',
  'on=-9i P*=1..',
  'pawns=9/9/pppppppp1/9/9/9/PPPPPPPPP/9/9',
];

test.each([...CHESS.map((text) => [text, false] as const), ...SHOGI.map((text) => [text, true] as const)])(
  'writes the terms that it reads: %s',
  (text, shogi) => {
    expect(writePattern(readPattern(text, shogi), shogi)).toBe(text);
  },
);

test('reads placements with wildcards, and writes many squares as one', () => {
  const placement = '*/pp3ppp/*/??Nn*/*/*/PPP2PPP/[RQ]6!';
  const form = readPattern(`board=${placement}`, false);
  expect([form.squares.get('a7'), form.squares.get('c7'), form.squares.get('c5')]).toEqual(['p', '-', 'N']);
  expect([form.squares.get('a1'), form.squares.get('h1'), form.squares.get('a8')]).toEqual([
    '[RQ]',
    '!',
    undefined,
  ]);
  expect(writePattern(form, false)).toBe(`board=${placement}`);
});

test('keeps terms that the form cannot show, in their order', () => {
  for (const text of [
    'on=Nz9',
    'board=8/8',
    'on=Nd5,nd5',
    'K=1',
    'G=1',
    'balance=x',
    'nonsense',
    'pawns=8/8/8/8/8/8/8/N7',
    // The server reports repeated terms.
    'R=1 R=2',
    'on=Nd5 board=*/*/*/???n*/*/*/*/*',
    // No pawn can be there.
    'on=Pe4 pawns=8/8/8/8/8/8/8/8',
  ]) {
    expect(writePattern(readPattern(text, false), false)).toBe(text);
  }
  expect(readPattern('zz=1 R=1 material=KRvK', false).rest).toEqual(['zz=1', 'material=KRvK']);
});

test('reads the numbers of pieces', () => {
  const { counts } = readPattern('R=1..2 q=3 N=2.. b=..1', false);
  expect([...counts]).toEqual([
    ['R', { min: 1, max: 2 }],
    ['q', { min: 3, max: 3 }],
    ['N', { min: 2, max: null }],
    ['b', { min: null, max: 1 }],
  ]);
});

test('adds and removes alternatives of a square', () => {
  let content = withAlternative(null, 'R');
  const steps = ['q', '+P', '-', 'q', 'R', '-', '+P'].map(
    (piece) => (content = withAlternative(content, piece)),
  );
  expect(steps).toEqual(['[Rq]', '[Rq+P]', '[Rq+P-]', '[R+P-]', '[+P-]', '+P', null]);
});

test('writes the pawns on the board as all pawns', () => {
  const squares = new Map([
    ['e4', 'P'],
    ['d5', 'p'],
    ['f3', 'N'],
  ]);
  const form = { ...blankPattern(), squares, pawns: true };
  expect(writePattern(form, false)).toBe('on=Nf3 pawns=8/8/8/3p4/4P3/8/8/8');
});

test.each([
  ['on=Nd5', false],
  ['turn=w on=P5d,p5c', true],
  ['board=*/*/*/*/*/*/*/*/*', true],
  ['pawns=8/8/8/8/8/8/8/8', false],
  ['P*=1..', true],
  ['game=shogi balance=1..', true],
  ['balance=1..', null],
])('recognizes the game of %s', (text, shogi) => {
  expect(isOfShogi(text)).toBe(shogi);
});
