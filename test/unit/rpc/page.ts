import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BirpcReturn, createBirpc } from 'birpc';
import { onTestFinished, vi } from 'vitest';
import type { HubApi, PageApi } from '../../../core/protocol/pages/rpc.ts';
import type { RunRow } from '../../../core/protocol/pages/run-views.ts';
import { decodeRpc, encodeRpc } from '../../../core/protocol/pages/rpc-codec.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { HubService } from '../../../src-main/rpc/hub-service.ts';

/** A page as the hub sees it, and what it was told. */
export interface TestPage {
  hub: BirpcReturn<HubApi, PageApi>;
  updates: RunUpdate[];
  lists: RunRow[][];
  /** Why the hub turned it away. */
  refusals: string[];
  /** Sends bytes as they are. */
  sendRaw(bytes: Uint8Array): void;
  close(): void;
}

/** A hub over an empty home, with what goes wrong in it. */
export async function openService() {
  const home = await mkdtemp(join(tmpdir(), 'tutti-rpc-'));
  vi.stubEnv('TUTTI_HOME', join(home, 'home'));
  const hub = await Hub.open();
  const errors: unknown[] = [];
  const options = {
    frontEnd: 'browser' as const,
    exportLink: (name: string) => `/exports/${name}`,
    onError: (error: unknown) => void errors.push(error),
  };
  const service = await HubService.open(hub, options);
  onTestFinished(async () => {
    await service.close();
    hub.close();
    vi.unstubAllEnvs();
    await rm(home, { recursive: true, force: true });
  });
  return { home, hub, service, errors, page: openPage(service) };
}

/** Joins a page to a service in memory; everything still goes through bytes. */
export function openPage(service: HubService): TestPage {
  let toHub: (bytes: Uint8Array) => void = () => undefined;
  let toPage: (message: unknown) => void = () => undefined;
  const told = { updates: [] as RunUpdate[], lists: [] as RunRow[][], refusals: [] as string[] };
  const close = service.connect({
    send: (bytes) => queueMicrotask(() => toPage(decodeRpc(bytes))),
    onMessage: (receive) => void (toHub = receive),
    refuse: (reason) => void told.refusals.push(reason),
  });
  const page: PageApi = {
    runsChanged: (runs) => void told.lists.push(runs),
    runUpdates: (_id, updates) => void told.updates.push(...updates),
  };
  const hub = createBirpc<HubApi, PageApi>(page, {
    post: (message: unknown) => toHub(encodeRpc(message)),
    on: (receive) => void (toPage = receive),
    timeout: -1,
  });
  return { hub, ...told, sendRaw: (bytes) => toHub(bytes), close };
}
