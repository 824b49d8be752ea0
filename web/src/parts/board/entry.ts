// What a text in the entry field of a board is: a move, or a position, record or link.

/** Whether a text is more than a move. Japanese moves contain wide characters and at most one space. */
export function isRecord(text: string): boolean {
  if (/[\n/[\]{}:：]/.test(text) || text.length > 40) return true;
  if (/^\d+\s*\.+\s*\S/.test(text)) return true;
  const tokens = text.split(/\s+/);
  return tokens.length > 2 || (tokens.length === 2 && /^[ -~]+$/.test(text));
}
