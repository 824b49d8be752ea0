// Starts the page.
import { mount } from 'svelte';
import App from './app/App.svelte';
import { language, theme } from './app/prefs.svelte';
import { addLooks } from './board/looks';
import { loadLanguage } from './i18n/index.svelte';
import { connect } from './store/server.svelte';
import { isReader, logInByLink } from './store/session';
import './styles/tokens.css';
import './styles/base.css';
import './styles/board.css';

async function start(target: HTMLElement) {
  // Before the first paint.
  document.documentElement.dataset.theme = theme();
  document.documentElement.lang = language();
  addLooks();
  await Promise.all([logInByLink(), loadLanguage(language())]);
  // A reader has no socket.
  if (!isReader()) connect();
  target.replaceChildren();
  mount(App, { target });
}

// It shows a page of its own while the server does not run. Plain HTTP of other hosts has none.
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  navigator.serviceWorker.register('./sw.js').catch(() => {
    // The app works without it.
  });
}

const target = document.getElementById('app');
if (target) void start(target);
