import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FollowedMessage } from '../../../core/protocol/run/follow.ts';
import { channelOver, type StreamChannel } from '../../../core/protocol/wire/channel.ts';
import { RemoteRun } from '../../../src-main/attach/remote-run.ts';
import { SecureServer } from '../../../src-main/nodes/secure/secure-socket.ts';
import { takeHubLock } from '../../../src-main/store/runs/hub-lock.ts';
import { notRun, notWindows } from '../../environment/reasons.ts';
import { runRecord } from '../../unit/store/records.ts';
import { useHub } from '../harness.ts';
import { standInForSsh } from './ssh.ts';

const { hub, home } = useHub();
afterEach(() => void vi.unstubAllEnvs());

type Send = (message: FollowedMessage, bytes?: Uint8Array<ArrayBuffer>) => void;

/** A process far away that has a run, and does as a test says once it is followed. */
async function hubElsewhere(id: string, followed: (send: Send, channel: StreamChannel) => void) {
  const far = join(home(), id);
  let open = 0;
  const server = await SecureServer.listen((socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    const channel = channelOver(socket);
    const send: Send = (message, bytes) =>
      channel.send({ kind: 'message', message, arrays: bytes === undefined ? [] : [bytes] });
    channel.onFrame((frame) => {
      const type = frame.kind === 'message' ? (frame.message as { type: string }).type : '';
      if (type === 'follow') followed(send, channel);
    });
  });
  onTestFinished(() => server.close());
  const { port, token } = server;
  const access = { format: 1, id, name: id, folder: join(far, 'run'), version: '1', hosts: ['127.0.0.1'], port, token };
  await mkdir(join(far, 'reachable'), { recursive: true });
  await writeFile(join(far, 'reachable', `${id}.json`), `${JSON.stringify({ ...access, node: 'n1', pid: 1 })}\n`);
  const ssh = join(home(), `ssh-${id}`);
  const { PATH } = await standInForSsh(ssh, far);
  vi.stubEnv('PATH', PATH);
  return { far, ssh, openConnections: () => open };
}

const attach = (id: string): Promise<RemoteRun | string> =>
  RemoteRun.open({ from: 'login', run: id }, { home: null, index: hub().index, mayAsk: false, say: () => undefined });

const recordOf = (id: string): Uint8Array<ArrayBuffer> =>
  Buffer.from(JSON.stringify(runRecord({ id, status: 'running' })));
const record = (send: Send, bytes: Uint8Array<ArrayBuffer>): void =>
  send({ type: 'files', parts: [{ path: 'run.json', identity: 'a', offset: 0, isNew: true }], removed: [] }, bytes);

async function scratchFolders(): Promise<string[]> {
  const lists = ['/dev/shm', tmpdir()].filter((folder) => existsSync(folder)).map((folder) => readdir(folder));
  return (await Promise.all(lists)).flat().filter((name) => name.startsWith(`tutti-${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Neither the lock, a folder, a process of ssh nor a connection of the copy is left. */
async function expectNothingLeft(id: string, { ssh, openConnections }: { ssh: string; openConnections: () => number }) {
  const lock = await takeHubLock(join(home(), 'runs', id));
  expect(lock).not.toBeNull();
  lock?.release();
  expect(await scratchFolders()).toEqual([]);
  const forwards = readFileSync(join(ssh, 'forwards'), 'utf8').trim().split('\n').map(Number);
  await expect.poll(() => forwards.filter(isAlive)).toEqual([]);
  await expect.poll(openConnections).toBe(0);
}

describe.skipIf(notWindows !== null)(`a run elsewhere that cannot be followed any more${notRun(notWindows)}`, () => {
  it('ends with the reason where it is over before its record came, and leaves nothing behind', async () => {
    const there = await hubElsewhere('over', (send) => send({ type: 'ended' }));
    await expect(attach('over')).rejects.toThrow('The run over was over before its record came.');
    await expectNothingLeft('over', there);
  });

  it('ends with the reason where its record cannot be read', async () => {
    const there = await hubElsewhere('newer', (send) => record(send, Buffer.from('{"format":99}')));
    await expect(attach('newer')).rejects.toThrow(
      "The run newer cannot be followed: the run's record is not one that this version of " +
        'Tutti knows: Tutti 1 wrote it',
    );
    await expectNothingLeft('newer', there);
  });

  it('ends with the reason where the link breaks first', async () => {
    const there = await hubElsewhere('broken', (_send, channel) => channel.close());
    await expect(attach('broken')).rejects.toThrow('The run broken cannot be followed: ');
    await expectNothingLeft('broken', there);
  });

  it('can be left while it is connected to again', async () => {
    let times = 0;
    const there = await hubElsewhere('left-early', (send, channel) => {
      times += 1;
      record(send, recordOf('left-early'));
      if (times === 1) channel.close();
    });
    // From its second call on, the shell there waits for a file before it answers.
    const program = join(there.ssh, 'programs', 'ssh');
    const script = readFileSync(program, 'utf8').split('\n');
    const wait =
      `case "$*" in *"sh -s"*) [ ! -e ${there.ssh}/slow ] || { touch ${there.ssh}/asked; while [ -e ` +
      `${there.ssh}/slow ]; do sleep 0.02; done; } ;; esac`;
    writeFileSync(program, [script[0], wait, ...script.slice(1)].join('\n'));
    const run = await attach('left-early');
    if (typeof run === 'string') throw new Error('Another process follows it.');
    writeFileSync(join(there.ssh, 'slow'), '');
    await expect.poll(() => existsSync(join(there.ssh, 'asked')), { timeout: 10_000 }).toBe(true);
    const closing = run.close();
    rmSync(join(there.ssh, 'slow'));
    await closing;
    await expectNothingLeft('left-early', there);
  });
});
