// Starts the page.
import { mount } from 'svelte';
import App from './app/App.svelte';
import { language, theme } from './app/prefs.svelte';
import { connect } from './store/server.svelte';
import './styles/base.css';
import './styles/board.css';
import './styles/pieces.css';

const target = document.getElementById('app');
if (target) {
  // Before the first paint, not after it.
  document.documentElement.dataset.theme = theme();
  document.documentElement.lang = language();
  connect();
  target.replaceChildren();
  mount(App, { target });
}
