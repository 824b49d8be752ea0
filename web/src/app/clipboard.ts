// The clipboard, also on pages without a secure origin.

/** Copies a text. Returns whether it was copied. */
export async function copyText(text: string): Promise<boolean> {
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
