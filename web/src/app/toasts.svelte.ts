// Short messages at the edge of the page, and what a screen reader is told.
type Tone = 'good' | 'bad' | 'plain';

class Toasts {
  list = $state<{ id: number; text: string; tone: Tone }[]>([]);
  /** What the live region says. */
  announcement = $state('');
  /** The windows over the page, the uppermost last. Nothing under it is seen, reached or heard. */
  windows = $state<string[]>([]);
}

export const toasts = new Toasts();
let next = 1;
const SHOWN = 7000;

export function toast(text: string, tone: Tone = 'plain') {
  const id = next++;
  const others = toasts.list.filter((one) => one.text !== text);
  toasts.list = [...others.slice(-3), { id, text, tone }];
  setTimeout(() => dismiss(id), SHOWN);
}

export function dismiss(id: number) {
  toasts.list = toasts.list.filter((one) => one.id !== id);
}

/** Says something in the live region. The same text twice is announcement twice. */
export function announce(text: string) {
  toasts.announcement = text === toasts.announcement ? `${text}\u00a0` : text;
}
