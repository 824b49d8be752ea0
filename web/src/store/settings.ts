// The user's settings. Changes that come faster than answers are made of each other.
import type { Settings } from '../api/wire';
import { Asked } from './asked.svelte';
import { ask } from './server.svelte';

const asked = new Asked<Settings>();

/** The settings as this tab has asked for them last. */
export function latestSettings(told: Settings): Settings {
  return asked.latest('', told);
}

/** Changes a part of them; fails as the server does. */
export function changeSettings(told: Settings, change: Partial<Settings>): Promise<void> {
  const settings = { ...latestSettings(told), ...change };
  return asked.keep('', settings, ask({ kind: 'set_settings', settings }));
}
