// The user's settings, with changes that the server has not confirmed yet.
import type { Settings } from '../api/wire';
import { PendingCommands } from './pendingCommand.svelte';
import { request } from './server.svelte';

const pending = new PendingCommands<Settings>();

/** The settings last requested by this tab. */
export function latestSettings(confirmed: Settings): Settings {
  return pending.latest('', confirmed);
}

/** Changes some settings. Fails with `RequestError`. */
export function changeSettings(confirmed: Settings, change: Partial<Settings>): Promise<void> {
  const settings = { ...latestSettings(confirmed), ...change };
  return pending.track('', settings, request({ kind: 'set_settings', settings }));
}
