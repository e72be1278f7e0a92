import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createBirpc } from 'birpc';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi } from '../../../core/protocol/pages/rpc.ts';
import { proofOf } from '../../../src-renderer/client/session-proof.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { tinyProject } from '../rpc/tiny-project.ts';

const entry = fileURLToPath(new URL('../../../src-main/tutti.mjs', import.meta.url));

/** Starts Tutti without a display, so that it serves the browser. @returns it and the link that it prints */
async function startTutti(home: string): Promise<{ tutti: ChildProcess; link: URL }> {
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...env } = process.env;
  const tutti = spawn(process.execPath, [entry, 'dashboard'], {
    env: { ...env, TUTTI_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void tutti.kill('SIGKILL'));
  for await (const line of createInterface({ input: tutti.stdout })) {
    const link = /http:\S+/.exec(line)?.[0];
    if (link !== undefined) return { tutti, link: new URL(link) };
  }
  throw new Error('Tutti ended without printing a link.');
}

/** Opens the link like a browser, then the page's connection. */
async function connectPage(link: URL, page: PageApi) {
  const entered = await fetch(link);
  const [cookie] = String(entered.headers.get('set-cookie')).split(';');
  const key = /content="([\w-]+)"/.exec(await entered.text())?.[1] ?? '';
  const headers = { cookie, origin: link.origin };
  const challenge = await (await fetch(new URL('/challenge', link), { headers })).text();
  const proof = `${challenge}.${await proofOf(key, challenge)}`;
  const socket = new WebSocket(`ws://${link.host}/rpc`, ['tutti', proof], { headers });
  await once(socket, 'open');
  return createBirpc<HubApi, PageApi>(page, {
    post: (message: unknown) => socket.send(encodeRpc(message)),
    on: (receive) => void socket.on('message', (bytes: Buffer) => receive(decodeRpc(bytes))),
    timeout: -1,
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'trains for a page; on %s its workers end and the run is interrupted on disk',
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-start-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const projectFolder = tinyProject;
    const { tutti, link } = await startTutti(join(folder, 'home'));
    const trained = Promise.withResolvers<void>();
    const hub = await connectPage(link, {
      runsChanged: () => undefined,
      queueChanged: () => undefined,
      studiesChanged: () => undefined,
      studyChanged: () => undefined,
      discoveriesChanged: () => undefined,
      discoveryChanged: () => undefined,
      inspecting: () => undefined,
      runUpdates: (_id, updates) => {
        if (updates.some(({ type }) => type === 'points')) trained.resolve();
      },
    });
    const overrides = { maxEpochs: 1_000_000 };
    const { id } = await hub.startRun({ projectFolder, overrides, name: null, out: null });
    await hub.watch(id);
    await trained.promise;
    const { folder: runFolder, ranks } = await hub.run(id);
    const pids = ranks.flatMap(({ pid }) => pid ?? []);
    expect(pids.map(isAlive)).toEqual([true, true]);

    tutti.kill(signal);
    const [code] = await once(tutti, 'exit');
    expect(code).toBe(0);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await readRunRecord(runFolder)).toMatchObject({ status: 'interrupted', hub: null });
  },
  60_000,
);
