// The user's settings. Changes that come faster than answers are made of each other.
import type { Settings } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import { request } from './server.svelte';

const asked = new PendingCommands<Settings>();

/** The settings as this tab has asked for them last. */
export function latestSettings(told: Settings): Settings {
  return asked.latest('', told);
}

/** Changes a part of them; fails as the server does. */
export function changeSettings(told: Settings, change: Partial<Settings>): Promise<void> {
  const settings = { ...latestSettings(told), ...change };
  return asked.keep('', settings, request({ kind: 'set_settings', settings }));
}
