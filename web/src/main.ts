// Starts the page.
import { mount } from 'svelte';
import App from './app/App.svelte';
import { language, theme } from './app/prefs.svelte';
import { connect } from './store/server.svelte';
import { isReader, logInByLink } from './store/session';
import './styles/base.css';
import './styles/board.css';
import './styles/pieces.css';

async function start(target: HTMLElement) {
  // Before the first paint.
  document.documentElement.dataset.theme = theme();
  document.documentElement.lang = language();
  await logInByLink();
  // A reader has no socket.
  if (!isReader()) connect();
  target.replaceChildren();
  mount(App, { target });
}

const target = document.getElementById('app');
if (target) void start(target);
