// Found engines: their identity, and how they are added.
import type { EngineSource, FoundEngine } from '../../api/wire';
import { act } from '../../store/server.svelte';
import { distinctNames } from './engineNames';

export const commandOf = ({ entry: { source } }: FoundEngine) => commandText(source);

/** The command line of a program. */
export function commandText(source: EngineSource): string {
  return source.kind === 'program' ? [source.path, ...source.args].join(' ') : '';
}

/** Identifies a found engine while others are found. */
export const keyOf = (engine: FoundEngine) =>
  `${engine.list ?? ''} ${engine.entry.name} ${commandOf(engine)}`;

/** Whether it is new and can be used. */
export const isUsable = ({ registered, evaluation }: FoundEngine) =>
  !registered && evaluation?.exists !== false;

/** The values that an engine gets: those of its list override those of the machine. */
export function valuesOf({ recommended, values }: FoundEngine, suitsMachine: boolean) {
  return { ...(suitsMachine ? recommended : {}), ...values };
}

/** Adds engines. Returns the number of added ones. `all` are found, whose names must differ. */
export async function addEngines(
  all: FoundEngine[],
  chosen: FoundEngine[],
  suitsMachine = true,
): Promise<number> {
  const names = distinctNames(all);
  let added = 0;
  for (const [index, engine] of all.entries()) {
    if (!chosen.includes(engine)) continue;
    const entry = { ...engine.entry, name: names[index] ?? '' };
    // The name that a program reports stays up to date.
    const isReported = engine.list === null && entry.name === engine.entry.name;
    const named = isReported ? { ...entry, name: '' } : entry;
    const values = valuesOf(engine, suitsMachine);
    if (await act({ kind: 'add_engine', entry: named, values })) added++;
  }
  return added;
}
