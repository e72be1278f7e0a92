import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BirpcReturn, createBirpc } from 'birpc';
import { onTestFinished, vi } from 'vitest';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi, type PageRole } from '../../../core/protocol/pages/rpc.ts';
import type { StudyChange, StudySummary } from '../../../core/protocol/pages/study-views.ts';
import type { RunListChange } from '../../../core/protocol/pages/run-list.ts';
import type { InspectProgress } from '../../../core/protocol/run/inspect-task.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { HubService } from '../../../src-main/rpc/hub-service.ts';
import { keepSurvey, takeSurvey } from '../../environment/kept-survey.ts';

/** A page as the hub sees it. Records what it receives. */
export interface TestPage {
  hub: BirpcReturn<HubApi, PageApi>;
  updates: RunUpdate[];
  lists: RunListChange[];
  studies: { changed: StudySummary[]; removed: string[] }[];
  studyChanges: StudyChange[];
  /** Ids of watched searches that changed. */
  searchChanges: string[];
  /** How far its inspections were. */
  inspections: InspectProgress[];
  /** The reason why the hub rejected the page. */
  refusals: string[];
  /** Sends raw bytes. */
  sendRaw(bytes: Uint8Array): void;
  close(): void;
}

/** A hub over an empty home, and the errors it reports. */
export async function openService() {
  const home = await mkdtemp(join(tmpdir(), 'tutti-rpc-'));
  const ofTutti = join(home, 'home');
  vi.stubEnv('TUTTI_HOME', ofTutti);
  await takeSurvey(ofTutti);
  const hub = await Hub.open();
  const errors: unknown[] = [];
  const options = {
    frontEnd: 'browser' as const,
    exportLink: (name: string) => `/exports/${name}`,
    links: { create: (role: PageRole) => `http://127.0.0.1:1/?token=${role}`, endWatchers: () => undefined },
    openPath: null,
    onError: (error: unknown) => void errors.push(error),
  };
  const service = await HubService.open(hub, options);
  onTestFinished(async () => {
    await service.close();
    hub.close();
    vi.unstubAllEnvs();
    await keepSurvey(ofTutti);
    await rm(home, { recursive: true, force: true });
  });
  return { home, hub, service, errors, page: openPage(service) };
}

/** Connects a page to a service in memory. All messages are still encoded as bytes. */
export function openPage(service: HubService, role: PageRole = 'owner'): TestPage {
  let toHub: (bytes: Uint8Array) => void = () => undefined;
  let toPage: (message: unknown) => void = () => undefined;
  const told = {
    updates: [] as RunUpdate[],
    lists: [] as RunListChange[],
    studies: [] as { changed: StudySummary[]; removed: string[] }[],
    studyChanges: [] as StudyChange[],
    searchChanges: [] as string[],
    inspections: [] as InspectProgress[],
    refusals: [] as string[],
  };
  const close = service.connect(
    {
      send: (bytes) => queueMicrotask(() => toPage(decodeRpc(bytes))),
      onMessage: (receive) => void (toHub = receive),
      refuse: (reason) => void told.refusals.push(reason),
    },
    role,
  );
  const page: PageApi = {
    queueChanged: () => undefined,
    runsChanged: (change) => void told.lists.push(change),
    runUpdates: (_id, updates) => void told.updates.push(...updates),
    studiesChanged: (change) => void told.studies.push(change),
    studyChanged: (_id, change) => void told.studyChanges.push(change),
    discoveriesChanged: () => undefined,
    discoveryChanged: (id) => void told.searchChanges.push(id),
    inspecting: (progress) => void told.inspections.push(progress),
  };
  const hub = createBirpc<HubApi, PageApi>(page, {
    post: (message: unknown) => toHub(encodeRpc(message)),
    on: (receive) => void (toPage = receive),
    timeout: -1,
  });
  return { hub, ...told, sendRaw: (bytes) => toHub(bytes), close };
}
