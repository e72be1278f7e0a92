import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HubService } from '../../../src-main/rpc/hub-service.ts';
import { openPage } from '../../unit/rpc/page.ts';
import { hubLogPath } from '../../../src-main/hub/detach.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notLinux, notRun } from '../../environment/reasons.ts';
import { isRunning, projectFolder, useHub } from '../harness.ts';

const { hub, home } = useHub();
const tutti = resolve(import.meta.dirname, '../../../src-main/tutti.mjs');
const noTerminal = spawnSync('script', ['--version']).status === 0 ? null : 'script of util-linux is missing';

interface Detached {
  type: string;
  id: string;
  folder: string;
  pid: number;
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [tutti, ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = start(...args);
  const { stdout, stderr } = command;
  if (stdout === null || stderr === null) throw new Error('Both are pipes.');
  const [[code], out, problems] = await Promise.all([once(command, 'exit'), text(stdout), text(stderr)]);
  return { code, stdout: out, stderr: problems };
}

/** Starts an endless detached run, which ends with the test. */
async function detach(...options: string[]): Promise<Detached> {
  const endless = ['--max-epochs', '1000000', '--devices', '2', '--detach', '--json'];
  const { code, stdout } = await run('train', projectFolder('blobs'), ...endless, ...options);
  expect(code).toBe(0);
  const started: Detached = JSON.parse(stdout);
  onTestFinished(() => {
    if (isRunning(started.pid)) process.kill(started.pid, 'SIGKILL');
  });
  return started;
}

async function gone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid)).toBe(false);
}

describe('a detached run', () => {
  it('trains when its command has ended, and is followed, left and stopped from other terminals', async () => {
    const { type, id, folder, pid } = await detach();
    expect(type).toBe('ready');
    expect(await readRunRecord(folder)).toMatchObject({ id, status: 'running', hub: { pid } });

    const first = start('attach', id, '--json');
    await once(first.stdout ?? first, 'data');
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(isRunning(pid)).toBe(true);

    const second = start('attach', id, '--json');
    let printed = '';
    second.stdout?.on('data', (chunk: Buffer) => {
      // A point that is new since the run was opened comes after the record, the facts and the past.
      if (!printed.includes('"point"') && String(chunk).includes('"point"')) second.kill('SIGINT');
      printed += String(chunk);
    });
    const [code] = await once(second, 'close');
    const last = JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '');
    expect({ code, type: last.type, status: last.record.status }).toEqual({
      code: 130,
      type: 'ended',
      status: 'stopped',
    });
    await gone(pid);
    expect(await readFile(hubLogPath(folder), 'utf8')).toContain('stopped after');
  });

  it('resumes detached too, and other processes of the user control it', async () => {
    const { id, pid, folder } = await detach();
    await hub().control(folder, { action: 'abort' });
    await gone(pid);
    const { code, stdout } = await run('resume', id, '--detach', '--json');
    expect(code).toBe(0);
    const resumed: Detached = JSON.parse(stdout);
    expect(await readRunRecord(folder)).toMatchObject({ status: 'running', attempts: [{}, { kind: 'resume' }] });
    expect((await run('stop', id)).code).toBe(0);
    await gone(resumed.pid);
    expect((await readRunRecord(folder)).status).toBe('stopped');
  });

  it.skipIf(notLinux !== null)(`is in a session without a terminal${notRun(notLinux)}`, async () => {
    const { pid, folder } = await detach();
    const [, , , session, terminal] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
    expect({ session: Number(session), terminal: Number(terminal) }).toEqual({ session: pid, terminal: 0 });
    await hub().control(folder, { action: 'abort' });
    await gone(pid);
  });

  it.skipIf(noTerminal !== null)(
    `goes on when q is pressed in the terminal that follows it${notRun(noTerminal)}`,
    async () => {
      const { id, pid, folder } = await detach();
      const words = [process.execPath, tutti, 'attach', id].join(' ');
      const terminal = spawn('script', ['-qec', words, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
      let printed = '';
      terminal.stdout.on('data', (chunk: Buffer) => {
        if (!printed.includes('epoch') && String(chunk).includes('epoch')) terminal.stdin.write('q');
        printed += String(chunk);
      });
      const [code] = await once(terminal, 'close');
      expect({ code, isRunning: isRunning(pid) }).toEqual({ code: 0, isRunning: true });
      expect(printed).toContain('Detached.');
      await hub().control(folder, { action: 'abort' });
      await gone(pid);
    },
  );
});

it('a page starts a detached run, which continues when its hub ends, and which other pages show and control', async () => {
  const errors: unknown[] = [];
  const options = {
    frontEnd: 'browser' as const,
    exportLink: (name: string) => name,
    links: null,
    openPath: null,
    onError: (error: unknown) => void errors.push(error),
  };
  const first = await HubService.open(hub(), options);
  const request = { projectFolder: projectFolder('blobs'), name: null, out: null, detach: true };
  const overrides = { maxEpochs: 1_000_000, devices: 2 };
  const { id } = await openPage(first).hub.startRun({ ...request, overrides });
  const pid = (await hub().record(id)).hub?.pid ?? 0;
  expect(pid).not.toBe(process.pid);
  await first.close();
  expect(isRunning(pid)).toBe(true);
  const next = await HubService.open(hub(), options);
  onTestFinished(() => next.close());
  const page = openPage(next);
  await page.hub.watch(id);
  await expect.poll(() => page.updates.some(({ type }) => type === 'points')).toBe(true);
  await page.hub.control(id, { action: 'stop' });
  await gone(pid);
  expect({ errors, status: (await hub().record(id)).status }).toEqual({ errors: [], status: 'stopped' });
});

describe('a detached run that cannot start', () => {
  it('gives the reason and the exit code of train', async () => {
    const folder = join(home(), 'runs', 'no-layer');
    const options = ['--fault', 'model', '--devices', '2', '--detach', '--out', folder];
    const { code, stderr } = await run('train', projectFolder('faulty'), ...options);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('No such layer: "densse".') });
    expect((await readRunRecord(folder)).status).toBe('failed');
  });

  it('names the run that its folder holds already, and leaves it alone', async () => {
    const { pid, folder, id } = await detach();
    const { code, stderr } = await run('train', projectFolder('blobs'), '--detach', '--out', folder);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(id) });
    expect(isRunning(pid)).toBe(true);
    await hub().control(folder, { action: 'abort' });
    await gone(pid);
  });
});
