import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

const command = join(import.meta.dirname, '../../../src-main/tutti.mjs');

/**
 * Sets the title, erases the screen, moves up, starts a hidden text, in the forms of C0 and C1, and reverses the
 * direction.
 */
const attack = '\u001B]0;owned\u0007\u001B[2J\u001B[1A\u001B[8m\u009B2J\u202E\rerror\n';

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tutti-foreign-'));
  const folder = join(home, 'runs', 'run-1');
  await mkdir(join(home, 'runs'), { recursive: true });
  const project = { name: `project ${attack}`, description: attack, folder: `/projects/${attack}` };
  const error = { message: attack, rank: 0, device: attack, epoch: null, step: null };
  await createRunFolder(folder, runRecord({ status: 'failed', name: `run ${attack}`, project, task: attack, error }));
  await writeFile(join(folder, 'events.jsonl'), `${attack}\n`);
  await mkdir(join(folder, 'logs'));
  await symlink('/etc/hostname', join(folder, 'logs', `${attack.replaceAll('/', '')}.log`));
  const damaged = join(home, 'runs', `damaged ${attack}`);
  await mkdir(damaged);
  await writeFile(join(damaged, 'run.json'), `{"id": "${attack}"`);
});

afterAll(() => rm(home, { recursive: true, force: true }));

function run(...args: string[]): { text: string; stdout: string } {
  const { stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TUTTI_HOME: home },
  });
  return { text: stdout + stderr, stdout };
}

describe('text of a run that somebody else made', () => {
  it.each([
    ['runs'],
    ['runs', '--json'],
    ['export', 'run-1', '--to', 'OUT', '--format', 'record,logs,tensorboard'],
    ['resume', 'run-1'],
    ['stop', 'run-1'],
    ['export', `no-run ${attack}`, '--to', 'OUT'],
    ['train', `no-project ${attack}`],
    [`no-command ${attack}`],
  ])('reaches the terminal without commands: %j', async (...args) => {
    const to = join(await temporaryFolder(), 'export');
    const { text } = run(...args.map((argument) => (argument === 'OUT' ? to : argument)));
    expect(text).toContain('\\u001b]0;owned\\u0007');
    expect(text.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202E]/u);
  });

  it('is one line in a table, and the same text in JSON', () => {
    const rows = run('runs').stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(2);
    expect(JSON.parse(run('runs', '--json').stdout)).toMatchObject({ name: `run ${attack}` });
  });
});
