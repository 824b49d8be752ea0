// Options declared by an engine, and their values.
import type { EngineOption, EngineState } from '../../api/wire';

/** The label of an option. */
export function labelOf(option: EngineOption, language: string): string {
  return option.labels[language] ?? option.labels.en ?? option.name;
}

/** The default value as text, if any. */
export function defaultOf(option: EngineOption): string | null {
  const kind = option.kind;
  switch (kind.kind) {
    case 'check':
    case 'spin':
      return kind.default === null ? null : String(kind.default);
    case 'combo':
    case 'string':
    case 'filename':
      return kind.default;
    case 'button':
    case 'other':
      return null;
  }
}

/** Whether a value is outside the declared range. */
export function valueProblem(option: EngineOption, value: string): boolean {
  const kind = option.kind;
  if (kind.kind === 'spin' && value !== '') {
    const number = Number(value);
    if (!Number.isInteger(number)) return true;
    return (kind.min !== null && number < kind.min) || (kind.max !== null && number > kind.max);
  }
  if (kind.kind === 'combo' && value !== '') return !kind.choices.some((choice) => choice.value === value);
  return false;
}

/** The options for the resources of the machine. */
const RESOURCES = /^(threads|hash|usi_hash)$/i;

/** The values of resources, such as `Threads 4 · Hash 512`. */
export function resourcesText(values: { [name in string]?: string }): string {
  return Object.entries(values)
    .filter(([name]) => RESOURCES.test(name))
    .map(([name, value]) => `${name} ${value}`)
    .toSorted((a, b) => b.localeCompare(a, 'en'))
    .join(' · ');
}

/** The values of resources that an engine uses for all purposes. */
export function resourcesOf(engine: EngineState): string {
  const values = engine.options.map((option) => [
    option.name,
    engine.values[option.name] ?? defaultOf(option) ?? undefined,
  ]);
  return resourcesText(Object.fromEntries(values));
}

/** All values as `setoption` commands. */
export function optionsText(options: EngineOption[], value: (option: EngineOption) => string): string {
  return options
    .filter((option) => option.kind.kind !== 'button' && option.kind.kind !== 'other')
    .map((option) => `setoption name ${option.name} value ${value(option)}`)
    .join('\n');
}

/** The options that can be set for one game: not those managed by the server, and no buttons. */
export function settable(engine: EngineState): EngineOption[] {
  return engine.options.filter(
    (option) => !option.set_by_server && option.kind.kind !== 'button' && option.kind.kind !== 'other',
  );
}

/** The value of an option in play without game-specific options. */
export function playValueOf(engine: EngineState, option: EngineOption): string | null {
  return engine.play_values[option.name] ?? engine.values[option.name] ?? defaultOf(option);
}

/** The values that are valid for the engine. */
export function fitting(engine: EngineState, values: Record<string, unknown>): Record<string, string> {
  const options = new Map(settable(engine).map((option) => [option.name, option]));
  const known = Object.entries(values).filter((pair): pair is [string, string] => {
    const option = options.get(pair[0]);
    return option !== undefined && typeof pair[1] === 'string' && !valueProblem(option, pair[1]);
  });
  return Object.fromEntries(known);
}
