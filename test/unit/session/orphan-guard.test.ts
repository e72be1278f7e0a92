import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('guardAgainstOrphaning', () => {
  it.skipIf(process.platform === 'win32')(
    'kills a process in an endless loop after its parent was killed (not run on Windows: no SIGKILL)',
    async () => {
      const parent = spawn(process.execPath, [fileURLToPath(new URL('orphan.ts', import.meta.url))], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: parent.stdout });
      const ended = once(lines, 'close');
      expect(await once(lines, 'line')).toEqual(['guarded']);
      parent.kill('SIGKILL');
      // Parent and child share the pipe, which closes when both are gone.
      await ended;
    },
  );
});
