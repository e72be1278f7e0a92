import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { HubService } from '../../../src-main/rpc/hub-service.ts';
import { notRun, notWindows } from '../../environment/reasons.ts';
import { openPage } from '../../unit/rpc/page.ts';
import { projectFolder, useHub } from '../harness.ts';
import { killNode, type LaunchedTask, startTask, tutti, watchProcess } from './launch.ts';
import { noSshd, standInForSsh, startLoginNode } from './ssh.ts';

const { hub, home } = useHub();
const started: LaunchedTask[] = [];

afterEach(() => {
  for (const task of started.splice(0))
    if (task.child.exitCode === null && task.child.signalCode === null) killNode(task);
});

/** An endless run of another home, as in a job. @returns it, and its folder */
async function trainElsewhere(name: string): Promise<{ job: LaunchedTask; far: string; folder: string; id: string }> {
  const far = join(home(), name);
  const folder = join(far, 'shared run');
  const args = ['--members', '1', '--devices', 'cpu:0', '--max-epochs', '1000000', '--evaluate-every-epochs', '20'];
  const job = startTask('compute7', { TUTTI_HOME: far, TUTTI_REACHABLE: '1' }, [
    'train',
    projectFolder('blobs'),
    '--out',
    folder,
    '--name',
    name,
    '--json',
    '--trust',
    ...args,
  ]);
  started.push(job);
  await job.until((line) => line.includes('"type":"point"'));
  return { job, far, folder, id: (await readRunRecord(folder)).id };
}

function attach(run: string, variables: Record<string, string>): LaunchedTask {
  const task = watchProcess(
    [process.execPath, '--disable-warning=ExperimentalWarning', tutti, 'attach', run, '--json'],
    variables,
  );
  started.push(task);
  return task;
}

const isPoint = (line: string): boolean => line.startsWith('{"type":"point"');

describe.skipIf(notWindows !== null)(`a run that trains behind a login node${notRun(notWindows)}`, () => {
  it.skipIf(noSshd !== null)(`is followed and stopped through a real sshd${notRun(noSshd)}`, async () => {
    const { job, far, folder, id } = await trainElsewhere('behind-sshd');
    const login = await startLoginNode(join(home(), 'login'), far);
    onTestFinished(() => login.end());
    const follower = attach('login:behind-sshd', login.variables);
    await follower.until(isPoint);
    const copy = await readRunRecord(join(home(), 'runs', id));
    expect(copy).toMatchObject({
      status: 'running',
      hub: { pid: follower.child.pid },
      remote: { from: 'login', folder, link: 'connected', reason: null },
    });
    follower.child.kill('SIGINT');
    expect(await follower.ended).toBe(130);
    expect(await job.ended).toBe(3);
    for (const file of ['metrics.csv', 'events.jsonl', 'logs/rank-0.log'])
      expect(await readFile(join(home(), 'runs', id, file), 'utf8')).toBe(await readFile(join(folder, file), 'utf8'));
    const { remote, ...record } = await readRunRecord(join(home(), 'runs', id));
    expect(record).toEqual(await readRunRecord(folder));
    expect(remote?.link).toBe('left');
    expect(await readdir(join(far, 'reachable'))).toEqual([]);
  });

  it('appears on the pages, which pause and stop it; a link that breaks is reported, and made again', async () => {
    const { job, far, folder, id } = await trainElsewhere('behind-ssh');
    const ssh = join(home(), 'ssh');
    const variables = await standInForSsh(ssh, far);
    const follower = attach('user@login:behind-ssh', variables);
    await follower.until(isPoint);

    const options = {
      frontEnd: 'browser' as const,
      exportLink: String,
      links: null,
      openPath: null,
      onError: () => undefined,
    };
    const service = await HubService.open(hub(), options);
    onTestFinished(() => service.close());
    const page = openPage(service);
    expect((await page.hub.runs({})).rows).toContainEqual(expect.objectContaining({ id, status: 'running' }));
    await page.hub.watch(id);
    await expect.poll(() => page.updates.some(({ type }) => type === 'points')).toBe(true);
    expect(await page.hub.run(id)).toMatchObject({
      isInReach: true,
      isFollowedHere: false,
      record: { hub: { pid: follower.child.pid }, remote: { link: 'connected' } },
    });
    await page.hub.control(id, { action: 'pause' });
    await job.until((line) => line.includes('"kind":"paused"'));
    await expect(page.hub.control(id, { action: 'stop-rank', rank: 9 })).rejects.toThrow(
      'Rank 9 cannot be stopped alone. The run has one member.',
    );

    writeFileSync(join(ssh, 'down'), '');
    process.kill(Number(readFileSync(join(ssh, 'forwards'), 'utf8').trim().split('\n').at(-1)), 'SIGKILL');
    await follower.until((line) => line.includes('The link to user@login is lost'));
    await expect.poll(async () => (await page.hub.run(id)).record.remote?.reason).toContain('the network is down');
    expect((await page.hub.run(id)).isInReach).toBe(false);
    await expect(page.hub.control(id, { action: 'resume' })).rejects.toThrow('The link to user@login is lost');
    rmSync(join(ssh, 'down'));
    await follower.until((line) => line.includes('The link to user@login is back.'));
    await page.hub.control(id, { action: 'resume' });
    const lines = follower.lines.length;
    await follower.until((line) => isPoint(line) && follower.lines.length > lines);
    await page.hub.control(id, { action: 'stop' });
    expect(await follower.ended).toBe(3);
    expect(await job.ended).toBe(3);
    expect(readFileSync(join(home(), 'runs', id, 'metrics.csv'), 'utf8')).toBe(
      readFileSync(join(folder, 'metrics.csv'), 'utf8'),
    );
    await expect(hub().resume(id, {}, () => undefined)).rejects.toThrow('is a copy of one on user@login');
  });

  it('is lost with its hub: the follower ends as soon as the run is known to have ended', async () => {
    const { job, far, folder, id } = await trainElsewhere('lost-hub');
    const variables = await standInForSsh(join(home(), 'ssh-lost'), far);
    const follower = attach(`login:${id}`, variables);
    await follower.until(isPoint);
    killNode(job);
    await follower.until((line) => line.includes('The link to login is lost'));
    const runs = watchProcess([process.execPath, tutti, 'runs'], { TUTTI_HOME: far });
    expect(await runs.ended).toBe(0);
    expect(await follower.ended).toBe(3);
    expect((await readRunRecord(join(home(), 'runs', id))).status).toBe('interrupted');
    expect(await readRunRecord(folder)).toMatchObject({ status: 'interrupted' });
  });

  it('is left alone by a follower that is killed or has the wrong token, and one can connect again by its id', async () => {
    const { job, far, id } = await trainElsewhere('left');
    const variables = await standInForSsh(join(home(), 'ssh-left'), far);
    const follower = attach('login:left', variables);
    await follower.until(isPoint);
    follower.child.kill('SIGKILL');
    await follower.ended;
    await hub().searchRuns();
    expect(await readRunRecord(join(home(), 'runs', id))).toMatchObject({
      status: 'running',
      hub: null,
      remote: { link: 'left' },
    });
    const again = attach(id, variables);
    await again.until(isPoint);
    again.child.kill('SIGKILL');
    await again.ended;
    const path = join(far, 'reachable', `${id}.json`);
    const access = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, `${JSON.stringify({ ...access, hosts: ['127.0.0.1'], token: 'another' })}\n`);
    const stranger = attach('login:left', variables);
    expect(await stranger.ended).toBe(1);
    expect(stranger.lines.join('\n')).toContain('does not know the token');
    const none = attach('login:nothing', variables);
    expect(await none.ended).toBe(1);
    expect(none.lines.join('\n')).toContain(
      `No run that trains on login is called "nothing". There are ${id} ("left", on compute7).`,
    );
    expect(job.child.exitCode).toBe(null);
  });
});
