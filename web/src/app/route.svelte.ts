// The route: the part of the address after `#`.
export const pages = [
  'play',
  'analyse',
  'training',
  'engines',
  'matches',
  'queue',
  'library',
  'settings',
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
  const known = pages.find((one) => one === page) ?? 'play';
  // Without a number the second segment is the part: `#/play/new`.
  return /^\d{1,9}$/.test(id) ? { page: known, id: Number(id), part } : { page: known, id: null, part: id };
}

export function routeText(page: Page, id: number | null = null, part = ''): string {
  return `#/${page}${id === null ? '' : `/${id}`}${part ? `/${part}` : ''}`;
}

/** Goes to a part of a page that has a name, such as a match of the queue. */
export function goTo(page: Page, part: string) {
  location.hash = routeText(page, null, part);
}

class Router {
  route = $state.raw(parseRoute(location.hash));
}

export const router = new Router();

addEventListener('hashchange', () => {
  router.route = parseRoute(location.hash);
});

export function go(page: Page, id: number | null = null, part = '') {
  location.hash = routeText(page, id, part);
}
