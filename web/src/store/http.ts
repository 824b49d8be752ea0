// The part of the server that is asked over HTTP: files, the library, positions.
import { Refused } from './connection';

async function check(response: Response): Promise<Response> {
  if (response.ok) return response;
  let refusal = { code: 'malformed' as const, text: `${response.status} ${response.statusText}` };
  try {
    refusal = await response.json();
  } catch {
    // The status says it all.
  }
  throw new Refused(refusal);
}

export async function get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  const text = new URLSearchParams(query).toString();
  const response = await fetch(`./api/${path}${text ? `?${text}` : ''}`);
  return (await check(response)).json();
}

export async function getText(path: string, query: Record<string, string> = {}): Promise<Response> {
  const text = new URLSearchParams(query).toString();
  return check(await fetch(`./api/${path}${text ? `?${text}` : ''}`));
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`./api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await check(response)).json();
}

export async function upload<T>(path: string, query: Record<string, string>, body: Blob): Promise<T> {
  const response = await fetch(`./api/${path}?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
  return (await check(response)).json();
}

/** Hands a file to the person. */
export function save(name: string, blob: Blob) {
  const link = document.createElement('a');
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
