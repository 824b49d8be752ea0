// Draws the icons of the installed app from `public/icon.svg`, with Chromium. Run in `web`: `node scripts/icons.mjs`.
import { mkdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const svg = readFileSync('public/icon.svg', 'utf8');
const color = /<rect[^>]* fill="(#[0-9a-f]+)"/.exec(svg)?.[1];
mkdirSync('public/icons', { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

/** A maskable icon fills its square; systems show a circle of 80% of its width. */
async function draw(name, size, maskable) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const width = maskable ? size * 0.8 : size;
  await page.setContent(
    `<style>body { margin: 0; display: grid; place-items: center; height: ${size}px;` +
      `background: ${maskable ? color : 'transparent'} } svg { width: ${width}px; height: ${width}px }</style>${svg}`,
  );
  await page.screenshot({ path: `public/icons/${name}.png`, omitBackground: true });
  await page.close();
}

await draw('192', 192, false);
await draw('512', 512, false);
await draw('maskable-512', 512, true);
await browser.close();
