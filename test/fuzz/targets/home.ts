import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSurvey } from '../../../src-main/backends/blas-survey.ts';
import { readDesktopState } from '../../../src-main/desktop/windows/window-state.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { ProjectTitles } from '../../../src-main/rpc/projects/project-titles.ts';
import { Projects } from '../../../src-main/rpc/projects/projects.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../src-main/store/index/run-index.ts';
import { readTrustFile } from '../../../src-main/trust/trust-file.ts';
import { runRecord } from '../../unit/store/records.ts';
import { fileTarget, json, text } from './files.ts';

/** Reads with Tutti's home in a folder. */
async function inHome<T>(folder: string, read: () => Promise<T>): Promise<T> {
  const before = process.env.TUTTI_HOME;
  process.env.TUTTI_HOME = folder;
  try {
    return await read();
  } finally {
    if (before === undefined) delete process.env.TUTTI_HOME;
    else process.env.TUTTI_HOME = before;
  }
}

const title = { modifiedMs: 5, name: 'Blobs', description: 'd', task: 'binary' };
const projectTitles = fileTarget({
  name: 'project-titles',
  reads: 'the cache of titles of projects',
  path: join('cache', 'project-titles.json'),
  seeds: async () => [json({ '/projects/a': title, '/projects/b': { ...title, modifiedMs: 6.5 } })],
  read: (folder) => inHome(folder, () => new ProjectTitles().find('/projects/a', 5)),
});

const projects = fileTarget({
  name: 'projects.json',
  reads: 'the folders that the user opened',
  path: 'projects.json',
  seeds: async () => [json(['/projects/a', '/projects/b'])],
  // Of the hub only the list of runs is asked, which is empty.
  read: (folder) =>
    inHome(folder, () => new Projects({ runs: () => [], index: { projects: () => [] } } as unknown as Hub).list()),
});

const trusted = fileTarget({
  name: 'trusted.json',
  reads: 'the folders that the user trusts, and what their projects may do',
  path: 'trusted.json',
  seeds: async () => [
    json({
      folders: [{ folder: '/projects/a', owner: 1000, since: '2026-01-02T03:04:05.000Z' }],
      permissions: { '/projects/a': { read: ['/data'], network: true, environment: ['TOKEN'] } },
    }),
  ],
  read: (folder) => inHome(folder, async () => readTrustFile()),
});

const windowState = fileTarget({
  name: 'window.json',
  reads: "the desktop app's windows",
  path: 'window.json',
  seeds: async () => [
    json({
      windows: [{ x: 1, y: -2, width: 1280, height: 800, isMaximized: false, address: '/runs/a' }],
      zoom: 1.2,
      theme: 'dark',
    }),
  ],
  read: async (_folder, file) => readDesktopState(file),
});

const reply = { kind: 'measured', gflops: 10 } as const;
const surveyor = {
  find: () => Promise.resolve([]),
  refuse: () => null,
  probe: () => Promise.resolve({ kind: 'failed', reason: 'not measured' } as never),
};
const blasSurvey = fileTarget({
  name: 'blas.json',
  reads: 'the cached speed of BLAS libraries',
  path: join('cache', 'blas.json'),
  seeds: async () => [json({ identity: 'x', own: reply, libraries: [] })],
  read: (folder) => inHome(folder, () => readSurvey(surveyor)),
});

/** A home with one run, so that the index has a row. */
async function homeWithRun(folder: string): Promise<void> {
  const run = join(folder, 'runs', 'run-1');
  await mkdir(run, { recursive: true });
  await createRunFolder(run, runRecord());
}

const externalRuns = fileTarget({
  name: 'external-runs',
  reads: 'the list of run folders outside of the home',
  path: 'external-runs.txt',
  prepare: homeWithRun,
  seeds: async () => [text('/data/run-2\n/data/run-3\n')],
  async read(folder) {
    const index = await RunIndex.open(folder);
    try {
      await index.rebuild();
    } finally {
      index.close();
    }
  },
  weight: 0.25,
});

async function indexBytes(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
  await homeWithRun(folder);
  (await RunIndex.open(folder)).close();
  const bytes = await readFile(join(folder, 'index.sqlite'));
  await rm(folder, { recursive: true });
  return bytes;
}

const index = fileTarget({
  name: 'index.sqlite',
  reads: 'the index of runs, which is rebuilt where it is damaged',
  path: 'index.sqlite',
  prepare: homeWithRun,
  seeds: async () => [await indexBytes()],
  async read(folder, file) {
    for (const ending of ['-wal', '-shm']) await rm(file + ending, { force: true });
    const opened = await RunIndex.open(folder);
    try {
      opened.list({ search: 'run' });
      await opened.refresh();
      await opened.find('run-1');
    } finally {
      opened.close();
    }
  },
  maximumBytes: 2 ** 17,
  weight: 0.25,
});

const emptyRun = fileTarget({
  name: 'copied-run',
  reads: 'a foreign folder of a run, opened and listed by a hub',
  path: join('runs', 'foreign', 'run.json'),
  prepare: homeWithRun,
  seeds: async () => [
    json(runRecord({ id: 'foreign', status: 'running', hub: { host: 'elsewhere', pid: 1, socket: '/nowhere' } })),
  ],
  async read(folder) {
    await inHome(folder, async () => {
      const hub = await Hub.open();
      hub.runs({});
      hub.close();
    });
  },
  weight: 0.25,
});

export const homeTargets = [projectTitles, projects, trusted, windowState, blasSurvey, externalRuns, index, emptyRun];
