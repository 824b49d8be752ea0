// The clipboard, also on pages without a secure origin.
import type { Key } from '../i18n/en';
import { t } from '../i18n/index.svelte';
import { toast } from './toasts.svelte';

/** Copies a text. Returns whether it was copied, which a toast reports. */
export async function copyText(text: string, report: Key = 'record.copied'): Promise<boolean> {
  const copied = await copy(text);
  if (copied) toast(t(report), 'good');
  return copied;
}

async function copy(text: string): Promise<boolean> {
  // Browsers offer this to secure origins only; loopback is one, other computers without TLS are not.
  if ('clipboard' in navigator) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Without permission the older command may work.
    }
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
