// Links that contain a record.

/** The start of the part of the address after `#`. */
export const OPEN = '#/open/';
/** Maximum length of the record of a link, in bytes. */
export const MAX_RECORD = 2_000_000;

async function through(data: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream) {
  const reader = new Blob([data]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    // A short link can contain a huge record.
    if (length > MAX_RECORD) throw new Error('record too long');
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Whether a text is only the address of a page, for example of a game. */
export const isLink = (text: string) =>
  /^\s*(https?:\/\/|(www\.)?(lichess|chess|lishogi)\.(org|com)\/)\S+\s*$/i.test(text);

/** The part of a link with a record: base64url of its deflated UTF-8. */
export async function encodeRecord(text: string): Promise<string> {
  const data = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  const bytes = Array.from(data, (byte) => String.fromCharCode(byte)).join('');
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The address of this installation that opens a record. */
export const linkTo = async (text: string) =>
  `${location.origin}${location.pathname}${OPEN}${await encodeRecord(text)}`;

/** The record of a link or of the part after `#`; null for other texts and damaged links. */
export async function decodeRecord(link: string): Promise<string | null> {
  const at = link.indexOf(OPEN);
  if (at < 0) return null;
  try {
    const text = link
      .slice(at + OPEN.length)
      .trim()
      .replaceAll('-', '+')
      .replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
  } catch {
    return null;
  }
}
