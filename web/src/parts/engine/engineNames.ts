import type { FoundEngine } from '../../api/wire';

/** The names of found engines. Programs that report the same name are distinguished by their files. */
export function distinctNames(engines: FoundEngine[]): string[] {
  return engines.map(({ entry: { name, source } }) => {
    const isShared = engines.filter(({ entry }) => entry.name === name).length > 1;
    const file = source.kind === 'program' ? (source.path.split(/[\\/]/).at(-1) ?? '') : '';
    return isShared && file ? `${name} (${file})` : name;
  });
}
