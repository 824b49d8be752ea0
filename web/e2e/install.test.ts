// The app as an installed one: its manifest, and the page that is shown while the server does not run.
import { expect, test } from 'vitest';
import { LONG, useServer } from './fixture';
import { locale, inLanguage } from './labels';

const fixture = useServer();

inLanguage('ja', () => {
  test('shows that the server does not run, and continues when it does', async () => {
    const page = await fixture.page('#/engines', { locale: locale() });
    await page.getByTestId('engine').first().waitFor(LONG);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const address = page.url();
    await fixture.server.kill();
    await page.reload();
    const title = locale().startsWith('ja') ? 'Readyok は起動していません' : 'Readyok is not running';
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.getByRole('heading').count()).toBe(1);
    expect(page.url()).toBe(address);
    // It uses the same port again.
    await fixture.server.restart();
    await page.getByRole('heading', { name: title }).waitFor({ state: 'detached', ...LONG });
    // Nothing of the app is cached.
    const cached = await page.evaluate(async () => {
      const names = await caches.keys();
      const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return all.flat().map(({ url }) => new URL(url).pathname);
    });
    expect(cached.toSorted()).toEqual(['/icon.svg', '/offline.css', '/offline.html', '/offline.js']);
  });
});

test('has a manifest with icons of the sizes that it declares', async () => {
  const page = await fixture.page();
  const found = await page.evaluate(async () => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]');
    const manifest = await (await fetch(link?.href ?? '')).json();
    const sizes: string[] = [];
    for (const { src, sizes: declared } of manifest.icons) {
      const image = new Image();
      image.src = new URL(src, link?.href).href;
      await image.decode();
      sizes.push(declared === 'any' ? declared : `${image.naturalWidth}x${image.naturalHeight}`);
    }
    return { name: manifest.name, display: manifest.display, icons: manifest.icons, sizes };
  });
  expect(found).toMatchObject({ name: 'Readyok', display: 'standalone' });
  expect(found.sizes).toEqual(found.icons.map(({ sizes }: { sizes: string }) => sizes));
  expect(found.sizes).toContain('192x192');
  // The color of the frame follows the theme.
  const color = () => page.locator('meta[name=theme-color]').getAttribute('content');
  await expect.poll(color).toBe('#fffefb');
});
