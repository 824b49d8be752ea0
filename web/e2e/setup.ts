// Skips the tests that the browser cannot run, with the reason.
import { beforeEach } from 'vitest';
import { BROWSER } from './browser';
import { UNSUPPORTED } from './firefox';

if (BROWSER === 'firefox')
  beforeEach(({ task, skip }) => {
    const found = UNSUPPORTED.find(
      ([file, name]) => task.file.name.endsWith(`/${file}.test.ts`) && task.fullTestName.includes(name),
    );
    if (found) skip(`Firefox: ${found[2]}`);
  });
