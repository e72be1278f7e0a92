import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasDeathSignal } from '../../../src-main/processes/node-process.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

describe('askProcess', () => {
  it.skipIf(!hasDeathSignal())(
    'leaves no process behind when the hub is killed (run on Linux with util-linux)',
    async () => {
      const pidFile = join(await temporaryFolder(), 'pid');
      const hub = spawn(process.execPath, [fileURLToPath(new URL('asking.ts', import.meta.url)), pidFile], {
        stdio: 'inherit',
      });
      onTestFinished(() => void hub.kill('SIGKILL'));
      const readPid = () => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '');
      await expect.poll(readPid).toMatch(/^\d+$/);
      const pid = readPid();
      expect(isAlive(pid)).toBe(true);
      hub.kill('SIGKILL');
      await expect.poll(() => isAlive(pid)).toBe(false);
    },
  );
});

/** Whether a process is there that has not ended. Nobody may have asked yet how an orphan ended (state Z). */
function isAlive(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, 'utf8'));
}
