import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { notRun } from '../../environment/reasons.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const repository = join(import.meta.dirname, '..', '..', '..');
const onWindows = process.platform === 'win32' ? 'Windows has no such limit' : null;
const example = join(repository, 'examples', '00_heteroscedastic_regression');

/** Runs a command of Tutti that may have so many files open. Node itself needs more than 20. */
async function runWith(files: number, args: readonly string[]): Promise<{ status: number | null; output: string }> {
  const script = `ulimit -n ${files}; exec "$@"`;
  const command = [process.execPath, join(repository, 'src-main', 'tutti.mjs'), ...args];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', ...command], {
    encoding: 'utf8',
    env: { ...process.env, TUTTI_HOME: await temporaryFolder() },
    timeout: 120_000,
  });
  return { status, output: stdout + stderr };
}

describe.skipIf(onWindows !== null)(`a process that may have few files open${notRun(onWindows)}`, () => {
  it.each([
    { files: 25, args: ['runs'] },
    { files: 25, args: ['doctor'] },
    { files: 30, args: ['doctor'] },
    { files: 27, args: ['train', example, '--max-epochs', '1'] },
    { files: 30, args: ['train', example, '--max-epochs', '1'] },
    { files: 34, args: ['train', example, '--max-epochs', '1', '--members', '2'] },
    { files: 27, args: ['trust', example] },
  ])('prints no stack: $files files, tutti $args.0', { timeout: 150_000 }, async ({ files, args }) => {
    const { status, output } = await runWith(files, args);
    expect(output).not.toMatch(/^\s+at .+:\d+:\d+|node:internal|Cannot read properties|Unhandled/m);
    const isRefused = status !== 0 && status !== null;
    expect(isRefused ? output : 'ulimit -n').toContain('ulimit -n');
  });
});
