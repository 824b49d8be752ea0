// Starts the page.
import { mount } from 'svelte';
import App from './app/App.svelte';
import { connect } from './store/server.svelte';
import './styles/base.css';
import './styles/board.css';
import './styles/pieces.css';

const target = document.getElementById('app');
if (target) {
  connect();
  mount(App, { target });
}
