// Shows the language of the browser, and continues when the server runs again.
document.documentElement.lang = navigator.language.startsWith('ja') ? 'ja' : 'en';

async function retry() {
  try {
    await fetch('./manifest.webmanifest', { cache: 'no-store' });
    location.reload();
  } catch {
    setTimeout(retry, 1500);
  }
}
setTimeout(retry, 1500);
