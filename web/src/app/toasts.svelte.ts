// Toasts, and announcements for screen readers.
type Tone = 'good' | 'bad' | 'plain';

/** What a toast offers; it remains until it is used or closed. */
export interface Offer {
  label: string;
  accept: () => void;
}

class Toasts {
  list = $state<{ id: number; text: string; tone: Tone; offer: Offer | undefined }[]>([]);
  /** The text of the live region. */
  announcement = $state('');
  /** The open dialogs, the topmost last. Everything below it is inert. */
  windows = $state<string[]>([]);
}

export const toasts = new Toasts();
let next = 1;
const SHOWN = 7000;

export function toast(text: string, tone: Tone = 'plain', offer?: Offer) {
  const id = next++;
  const others = toasts.list.filter((one) => one.offer || one.text !== text);
  toasts.list = [...others.slice(-3), { id, text, tone, offer }];
  if (!offer) setTimeout(() => dismiss(id), SHOWN);
}

export function dismiss(id: number) {
  toasts.list = toasts.list.filter((one) => one.id !== id);
}

/** Sets the text of the live region. A repeated text is announced again. */
export function announce(text: string) {
  toasts.announcement = text === toasts.announcement ? `${text}\u00a0` : text;
}
