import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withRunLock } from '../../../../src-main/store/runs/hub-lock.ts';
import { temporaryFolder } from '../fixtures.ts';

describe('withRunLock', () => {
  it('admits callers one at a time in their order of arrival, even if earlier ones fail', async () => {
    const folder = await temporaryFolder();
    const trace: string[] = [];
    const enter = (name: string) =>
      withRunLock(folder, async () => {
        trace.push(`${name} in`);
        await new Promise(setImmediate);
        trace.push(`${name} out`);
        if (name === 'a') throw new Error('a failed');
        return name;
      });
    const results = await Promise.allSettled([enter('a'), enter('b'), enter('c')]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(trace).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('excludes another process, and is released when that process is killed', async () => {
    const folder = await temporaryFolder();
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-lock.ts'), folder]);
    await once(holder.stdout, 'data');
    await expect(withRunLock(folder, () => Promise.resolve())).rejects.toThrow(
      'another Tutti process has been changing its files for more than 2 s',
    );
    const exited = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exited;
    expect(await withRunLock(folder, () => Promise.resolve('in'))).toBe('in');
  });
});
