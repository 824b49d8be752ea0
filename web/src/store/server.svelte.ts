// The connection of this tab, for components.
import type { Answer, Command, DamagedFile, Topic } from '../api/wire';
import { toast } from '../app/toasts.svelte';
import { errorText } from '../i18n/format';
import type { Model, StateOf } from './apply';
import { Connection, RequestError, OFFLINE } from './connection';
import { getText, save } from './http';
import { authenticated, isReader, logIn, onOtherLogin, subprotocols } from './session';

class Status {
  open = $state(false);
  everOpen = $state(false);
  /** The browser has no session. */
  loggedOut = $state(false);
  /** Damaged files of the server. */
  damaged = $state<DamagedFile[]>([]);
  /** The version of the server, when it is known. */
  version = $state('');
}

export const status = new Status();

let connection: Connection | undefined;

export function connect() {
  const url = new URL('./api/ws', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  connection = new Connection(
    {
      open: () => new WebSocket(url, subprotocols()),
      later: (milliseconds, act) => setTimeout(act, milliseconds),
      outdated: () => location.reload(),
      handshake: (version, damaged) => Object.assign(status, { version, damaged }),
    },
    (open) => {
      status.open = open;
      if (open) {
        status.everOpen = true;
        // Another tab may have logged in.
        status.loggedOut = false;
      } else void checkSession();
    },
  );
  onOtherLogin(() => connection?.retry());
}

/** Logs in with the password of the server, or of an account. Returns the status of the response. */
export async function logInByPassword(password: string, name = ''): Promise<number> {
  const result = await logIn(name ? { account: { name, password } } : { password });
  if (result === 200) {
    // A reader has no socket, and another page.
    if (isReader()) location.reload();
    else if (connection) connection.retry();
    else {
      status.loggedOut = false;
      connect();
    }
  }
  return result;
}

/** Determines whether the session is missing: a WebSocket reports no status. */
async function checkSession() {
  if (isReader()) return;
  try {
    const response = await fetch('./api/choices', authenticated());
    status.loggedOut = response.status === 401;
  } catch {
    // The server is unreachable.
  }
}

/** Sends a command. Fails with `RequestError`. */
export function request(command: Command): Promise<Answer> {
  if (!connection) return Promise.reject(new RequestError(OFFLINE));
  return connection.request(command);
}

/** Sends a command and shows an error as a toast. Returns undefined after an error. */
export const act = (command: Command): Promise<Answer | undefined> => attempt(() => request(command));

/** The text of an error. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestError) return errorText(error.details);
  return String(error instanceof Error ? error.message : error);
}

/** Does some work and shows an error as a toast. Returns undefined after an error. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/** Saves a text of the server as a file. */
export const download = (path: string, query: Record<string, string>, name: string) =>
  attempt(async () => save(name, await (await getText(path, query)).blob()));

/** Shows an error to the user. */
export function showError(error: unknown) {
  if (error instanceof RequestError && error.details.error.code === 'not_logged_in') {
    // The login form explains the rest.
    status.loggedOut = true;
  } else toast(reasonOf(error), 'bad');
}

/** Subscribes to a topic for the lifetime of the component. */
export function follow<K extends Model['kind']>(kind: K, topic: () => Topic | null) {
  let value = $state.raw<StateOf<K> | undefined>();
  let closed = $state(false);
  const current = $derived(topic());
  $effect(() => {
    const name = current;
    value = undefined;
    closed = false;
    if (name === null || !connection) return undefined;
    return connection.watch(name, (model, isClosed) => {
      closed = isClosed;
      value = model?.kind === kind ? (model.state as StateOf<K>) : undefined;
    });
  });
  return {
    get value() {
      return value;
    },
    get closed() {
      return closed;
    },
  };
}
