import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { guardAgainstOrphaning } from '../../../workers/session/orphan-guard.ts';

/** For `orphan-guard.test.ts`: a parent that gets killed, and its guarded child in an endless loop. */

if (process.argv[2] === 'child') {
  guardAgainstOrphaning();
  process.stdout.write('guarded\n', () => {
    for (;;);
  });
} else {
  spawn(process.execPath, [fileURLToPath(import.meta.url), 'child'], { stdio: ['ignore', 'inherit', 'inherit'] });
}
