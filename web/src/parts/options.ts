// Values of options, as far as what an engine declared tells.
import type { EngineOption } from '../api/wire';

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
