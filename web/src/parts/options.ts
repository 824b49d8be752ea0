// Values of options, as far as what an engine declared tells.
import type { EngineOption, EngineState } from '../api/wire';

/** How an option is called: what says nothing to a reader of this language is called by its name. */
export function labelOf(option: EngineOption, language: string): string {
  return option.labels[language] ?? option.labels.en ?? option.name;
}

/** The default of an option as a word, if it has one. */
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

/** Whether a value breaks what the engine declared. */
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

/** All values as the commands that would set them. */
export function optionsText(options: EngineOption[], value: (option: EngineOption) => string): string {
  return options
    .filter((option) => option.kind.kind !== 'button' && option.kind.kind !== 'other')
    .map((option) => `setoption name ${option.name} value ${value(option)}`)
    .join('\n');
}

/** The options that a person can set for one game: what the server sets is set by the game, and a button has no value. */
export function settable(engine: EngineState): EngineOption[] {
  return engine.options.filter(
    (option) => !option.set_by_server && option.kind.kind !== 'button' && option.kind.kind !== 'other',
  );
}

/** What an option is when the engine plays and nothing else is set. */
export function playValueOf(engine: EngineState, option: EngineOption): string | null {
  return engine.play_values[option.name] ?? engine.values[option.name] ?? defaultOf(option);
}

/** Of some values those that the engine can take. */
export function fitting(engine: EngineState, values: Record<string, unknown>): Record<string, string> {
  const options = new Map(settable(engine).map((option) => [option.name, option]));
  const known = Object.entries(values).filter((pair): pair is [string, string] => {
    const option = options.get(pair[0]);
    return option !== undefined && typeof pair[1] === 'string' && !valueProblem(option, pair[1]);
  });
  return Object.fromEntries(known);
}
