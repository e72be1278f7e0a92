import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasDeathSignal } from '../../../src-main/processes/node-process.ts';
import { askProcess } from '../../../src-main/processes/standing-process.ts';
import { temporaryFolder } from '../data/temp-folder.ts';
import { writeVersion16 } from './version-16.ts';

describe('askProcess', () => {
  it('asks and answers between an Electron and a Node whose V8 write different versions', async () => {
    onTestFinished(writeVersion16());
    const newer = new Uint8Array(v8.serialize({ loss: 0.5 }));
    expect([...newer.subarray(0, 2)]).toEqual([0xff, 0x10]);
    const values = { losses: new Float32Array([0.5, NaN, -0]), none: null, limit: -Infinity };
    const entry = fileURLToPath(new URL('echoing.ts', import.meta.url));
    const message = { newer, values };
    const answer = await askProcess({ entry, args: [], message, timeoutMs: 60_000, subject: 'No answer', grant: null });
    expect(answer).toEqual({
      newer,
      values,
      refusal: expect.stringMatching(/^Error: Unable to deserialize cloned data/),
    });
  });

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
