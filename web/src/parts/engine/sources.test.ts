import { expect, test } from 'vitest';
import { sourcesFor } from './sources';

const command = (system: string, ...distributions: string[]) =>
  sourcesFor({ cores: 4, memory: null, system, distributions }).map(({ command }) => command);

test('offers the package of the system', () => {
  expect(command('linux', 'linuxmint', 'ubuntu', 'debian')).toEqual(['sudo apt install stockfish', null]);
  expect(command('linux', 'opensuse-leap', 'suse', 'opensuse')).toEqual([
    'sudo zypper install stockfish',
    null,
  ]);
  expect(command('macos')).toEqual(['brew install stockfish', null]);
  expect(command('windows')).toEqual([null, null]);
  expect(command('linux', 'constructor')).toEqual([null, null]);
});
