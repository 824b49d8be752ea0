// The route: the part of the address after `#`.
export const pages = [
  'home',
  'play',
  'analyse',
  'library',
  'training',
  'matches',
  'engines',
  'settings',
  'about',
] as const;
export type Page = (typeof pages)[number];

export interface Route {
  page: Page;
  /** The game, engine or match. */
  id: number | null;
  /** The section of the page, such as `log`. */
  part: string;
}

export function parseRoute(hash: string): Route {
  const [page = '', id = '', part = ''] = hash.replace(/^#\/?/, '').split('/');
  // An address of an earlier version: matches of the queue had a page of their own.
  const wanted = page === 'queue' ? 'matches' : page;
  const known = pages.find((one) => one === wanted) ?? 'home';
  // Without a number the second segment is the part: `#/play/new`.
  return /^\d{1,9}$/.test(id) ? { page: known, id: Number(id), part } : { page: known, id: null, part: id };
}

export function routeText(page: Page, id: number | null = null, part = ''): string {
  return `#/${page}${id === null ? '' : `/${id}`}${part ? `/${part}` : ''}`;
}

export const routeTextOf = ({ page, id, part }: Route) => routeText(page, id, part);

/** Goes to a part of a page that has a name, such as a match of the queue. */
export function goTo(page: Page, part: string) {
  location.hash = routeText(page, null, part);
}

/** Whether a page shows a board in the whole window. */
export const isBoardPage = ({ page }: Route) => page === 'play' || page === 'analyse';

class Router {
  route = $state.raw(parseRoute(location.hash));
  /** The address to which a board page on a phone goes back: that of the last other page. */
  back = $state(routeText('home'));
}

export const router = new Router();

addEventListener('hashchange', () => {
  if (!isBoardPage(router.route)) router.back = routeTextOf(router.route);
  router.route = parseRoute(location.hash);
});

export function go(page: Page, id: number | null = null, part = '') {
  location.hash = routeText(page, id, part);
}
