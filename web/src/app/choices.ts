// The declaration of the settings of appearance, for their page and the command palette.
import type { Key } from '../i18n/en';
import { known, t } from '../i18n/index.svelte';
import type { Prefs } from './prefs.svelte';

export interface Choice {
  name: keyof Prefs;
  label: Key;
  /** Values with their labels, or with names in their own language. */
  values: readonly [value: string, label: string][];
}

export const CHOICES: readonly Choice[] = [
  {
    name: 'theme',
    label: 'settings.theme',
    values: [
      ['auto', 'settings.theme.auto'],
      ['light', 'settings.theme.light'],
      ['dark', 'settings.theme.dark'],
      ['contrast', 'settings.theme.contrast'],
    ],
  },
  {
    name: 'language',
    label: 'settings.language',
    values: [
      ['', 'settings.language.auto'],
      ['en', 'English'],
      ['ja', '日本語'],
    ],
  },
  {
    name: 'notation',
    label: 'settings.notation',
    values: [
      ['auto', 'settings.notation.auto'],
      ['western', 'settings.notation.western'],
      ['japanese', 'settings.notation.japanese'],
    ],
  },
  {
    name: 'coordinates',
    label: 'settings.coordinates',
    values: [
      ['inside', 'settings.coordinates.inside'],
      ['off', 'settings.coordinates.off'],
    ],
  },
];

export const SWITCHES: readonly [name: keyof Prefs, label: Key][] = [
  ['figurines', 'settings.figurines'],
  ['animation', 'settings.animation'],
  ['arrows', 'settings.arrows'],
  ['evalbar', 'settings.evalbar'],
  ['sound', 'settings.sound'],
  ['opponentInfo', 'settings.opponent_info'],
  ['announce', 'settings.announce'],
];

export const valueLabel = (label: string) => (known(label) ? t(label) : label);
