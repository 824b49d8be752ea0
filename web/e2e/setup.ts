// Skips the tests that the browser cannot run, with the reason, and closes the pages of a file.
import { afterAll, beforeEach } from 'vitest';
import { BROWSER, sharedBrowser } from './browser';
import { UNSUPPORTED } from './firefox';

if (BROWSER === 'firefox')
  beforeEach(({ task, skip }) => {
    const found = UNSUPPORTED.find(
      ([file, name]) => task.file.name.endsWith(`/${file}.test.ts`) && task.fullTestName.includes(name),
    );
    if (found) skip(`Firefox: ${found[2]}`);
  });

afterAll(async () => {
  for (const context of (await sharedBrowser()).contexts()) await context.close();
});
