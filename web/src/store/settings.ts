// The user's settings, with changes that the server has not confirmed yet.
import type { Settings } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import { request } from './server.svelte';

const asked = new PendingCommands<Settings>();

/** The settings last requested by this tab. */
export function latestSettings(told: Settings): Settings {
  return asked.latest('', told);
}

/** Changes some settings. Fails with `RequestError`. */
export function changeSettings(told: Settings, change: Partial<Settings>): Promise<void> {
  const settings = { ...latestSettings(told), ...change };
  return asked.keep('', settings, request({ kind: 'set_settings', settings }));
}
