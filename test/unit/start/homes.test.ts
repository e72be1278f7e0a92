import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const tutti = join(import.meta.dirname, '../../../src-main/tutti.mjs');

/** What a command says on stderr before it fails. One that hangs is killed, and says nothing. */
async function failureOf(command: readonly string[], home: string): Promise<string> {
  const env = { ...process.env, TUTTI_HOME: home, NODE_COMPILE_CACHE: '' };
  const limits = { env, timeout: 20_000, killSignal: 'SIGKILL' } as const;
  const failed = promisify(execFile)(process.execPath, [tutti, ...command], limits);
  return failed.then(
    () => 'It succeeded.',
    ({ stderr }: { stderr: string }) => stderr,
  );
}

it.skipIf(process.platform !== 'linux').each([['runs'], ['dashboard', '--browser', '--no-open']])(
  'tutti %s fails where the file system takes no home, in which a recursive mkdir never returns',
  async (...command) => {
    expect(await failureOf(command, '/proc/tutti-home')).toBe(
      'error: Cannot create /proc/tutti-home/runs: its file system takes no folders or files there (ENOTSUP). ' +
        'Use a folder on a disk: choose another folder with --out or TUTTI_HOME.\n',
    );
  },
  60_000,
);

it('fails where a file has the name of the home', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-homes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const home = join(folder, 'home');
  await writeFile(home, '');
  expect(await failureOf(['runs'], home)).toBe(
    `error: Cannot create ${home}/runs: a part of the path is a file, not a folder (ENOTDIR). Choose another folder.\n`,
  );
}, 30_000);
