// The secret with which this browser authenticates. It is stored by origin, which includes the port: a cookie would be
// sent to the servers of other users on other ports of this machine as well.
const KEY = 'readyok.session';
const LOGIN = './api/login';
/** Set in browsers whose session is read-only. */
const READER = 'readyok.reader';

/** For browsers whose storage is disabled: lasts until the page is reloaded. */
let memoryCopy = '';

function session(): string {
  try {
    return localStorage.getItem(KEY) ?? memoryCopy;
  } catch {
    return memoryCopy;
  }
}

/** For browsers whose storage is disabled. */
let readerInMemory = false;

/** Whether the session shows the dashboard only. */
export function isReader(): boolean {
  try {
    return localStorage.getItem(READER) !== null || readerInMemory;
  } catch {
    return readerInMemory;
  }
}

function keep(secret: string, reader: boolean) {
  memoryCopy = secret;
  readerInMemory = reader;
  try {
    localStorage.setItem(KEY, secret);
    if (reader) localStorage.setItem(READER, '1');
    else localStorage.removeItem(READER);
  } catch {
    // The copy in memory remains.
  }
}

/** Calls back when another tab of this browser has logged in. */
export function onOtherLogin(act: () => void) {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === KEY && newValue) act();
  });
}

/** A request that authenticates. */
export function authenticated(request: RequestInit = {}): RequestInit {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${session()}`);
  return { ...request, headers };
}

/** The subprotocols of a socket that authenticates: a script can set no header of it. */
export function subprotocols(): string[] {
  const secret = session();
  return secret ? ['readyok', secret] : ['readyok'];
}

export type Credential =
  { token: string } | { password: string } | { account: { name: string; password: string } };

/** Exchanges the token of a link or a password for the secret. Returns the status of the response. */
export async function logIn(credential: Credential): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(LOGIN, { method: 'POST', headers, body: JSON.stringify(credential) });
  if (response.ok) {
    const { session: secret, reader } = (await response.json()) as { session: string; reader?: boolean };
    keep(secret, reader ?? false);
  }
  return response.status;
}

/** Whether the server accepts a password, or the passwords of accounts, in addition to links. */
export async function loginMethods(): Promise<{ password: boolean; accounts: boolean }> {
  const response = await fetch(LOGIN);
  if (!response.ok) return { password: false, accounts: false };
  return (await response.json()) as { password: boolean; accounts: boolean };
}

/** Pauses before further attempts to use a link, in milliseconds. */
const PAUSES = [200, 1000, 3000];
const REQUEST_TIMEOUT = 408;

/** Uses the token in the address of the page, if there is one, and removes it there. */
export async function logInByLink(): Promise<void> {
  const token = new URLSearchParams(location.search).get('token');
  if (token === null) return;
  history.replaceState(null, '', `${location.pathname}${location.hash}`);
  for (const pause of [0, ...PAUSES]) {
    if (pause) await new Promise((done) => setTimeout(done, pause));
    try {
      // A link that was used before changes nothing: this browser may have the secret already.
      if ((await logIn({ token })) !== REQUEST_TIMEOUT) return;
    } catch {
      // The server is unreachable, or has closed the connection because the browser was too slow.
    }
  }
}
