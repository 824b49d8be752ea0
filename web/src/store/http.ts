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

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await call(`./api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return response.json();
}

/** Sends a file, which the server reads while it is received. */
export async function upload<T>(
  path: string,
  query: Record<string, string>,
  body: Blob,
  signal?: AbortSignal,
): Promise<T> {
  const response = await call(`./api/${path}?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    ...(signal && { signal }),
  });
  return response.json();
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
