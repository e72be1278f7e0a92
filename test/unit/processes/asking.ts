import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { askProcess } from '../../../src-main/processes/standing-process.ts';

/**
 * For `ask-process.test.ts`: a hub that gets killed, and the process that it asks, in an endless loop after it has
 * written its id to a file.
 */

const [pidFile, isAsked] = process.argv.slice(2);
if (isAsked === 'asked') {
  writeFileSync(pidFile, String(process.pid));
  for (;;);
} else {
  const entry = fileURLToPath(import.meta.url);
  await askProcess({ entry, args: [pidFile, 'asked'], timeoutMs: 600_000, subject: 'No answer', grant: null });
}
