// The HTTP API: files, library, positions.
import type { ApiError } from '../api/wire';
import { OFFLINE, RequestError } from './connection';
import { authenticated } from './session';

async function check(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = `${response.status} ${response.statusText}`;
  let details: ApiError = { category: 'invalid_request', error: { code: 'system', text } };
  try {
    details = await response.json();
  } catch {
    // The body is not JSON: the status is the message.
  }
  throw new RequestError(details);
}

async function call(place: string, how?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(place, authenticated(how));
  } catch {
    throw new RequestError(OFFLINE);
  }
  return check(response);
}

export async function get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  const text = new URLSearchParams(query).toString();
  return (await call(`./api/${path}${text ? `?${text}` : ''}`)).json();
}

export async function getText(path: string, query: Record<string, string> = {}): Promise<Response> {
  const text = new URLSearchParams(query).toString();
  return call(`./api/${path}${text ? `?${text}` : ''}`);
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await call(`./api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

export async function upload<T>(path: string, query: Record<string, string>, body: Blob): Promise<T> {
  const response = await call(`./api/${path}?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
  return response.json();
}

/** Uploads a file with progress: the server reads it while it is received. */
export function uploadWithProgress<T>(
  path: string,
  query: Record<string, string>,
  body: Blob,
  { onprogress, signal }: { onprogress: (bytes: number) => void; signal: AbortSignal },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `./api/${path}?${new URLSearchParams(query)}`);
    new Headers(authenticated().headers).forEach((value, name) => request.setRequestHeader(name, value));
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.addEventListener('progress', (event) => onprogress(event.loaded));
    request.addEventListener('error', () => reject(new RequestError(OFFLINE)));
    request.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    request.addEventListener('load', () => {
      const { status, statusText } = request;
      check(new Response(request.responseText, { status, statusText }))
        .then((response) => response.json())
        .then(resolve, reject);
    });
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

/** Downloads a blob as a file. */
export function save(name: string, blob: Blob) {
  const link = document.createElement('a');
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
