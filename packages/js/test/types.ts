// Compiled, not run.
import { Game, Position, RecordError, load, read, readStream, type Format, type TreeNode } from '../index.js';
import { opening } from '../extras.js';

export async function uses(response: Response): Promise<string> {
  await load(fetch('readyok.wasm'));
  using position = new Position(undefined, { game: 'chess960' });
  const one: string = position.push('e4');
  const several: string[] = position.push('e4', 'e5');
  // @ts-expect-error an unknown game
  new Position('', { game: 'go' });
  // @ts-expect-error an unknown notation
  position.notation('e4', 'figurine');
  const lines: TreeNode[][] | undefined = new Game(position).tree[0]?.variations;
  const format: Format = 'kif';
  const onError = (error: RecordError) => void error.line.toFixed();
  for (const game of read(new Uint8Array(1), { format, onError })) game.result = '1-0';
  if (response.body) for await (const game of readStream(response.body)) game.finish('resignation', '0-1');
  const eco: string | undefined = opening(position)?.eco;
  return `${one} ${several} ${lines?.length} ${eco} ${position.outcome?.winner === 'first'}`;
}
