import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPool } from '../../../src-main/discovery/pool.ts';
import { createSearch } from '../../../src-main/discovery/search-folder.ts';
import { searchOf } from '../../unit/discovery/records.ts';
import { startRun, useHub } from '../harness.ts';
import { writeAttackProject } from './attack-project.ts';

/** Runs with real workers, whose project attacks. */

const { hub } = useHub();
const isLinux = process.platform === 'linux';
const denied = 'ERR_ACCESS_DENIED';
const hasCompiler = spawnSync('cc', ['--version']).status === 0;

let root: string;
let server: Server;
let port: number;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-attack-')));
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'secret'), 'hunter2');
  vi.stubEnv('TEST_SECRET_TOKEN', 'hunter2');
  vi.stubEnv('TEST_DECLARED', 'declared');
  server = createServer((socket) => {
    socket.end('HTTP/1.1 204 Nothing\r\nConnection: close\r\n\r\n', () => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => void server.close(resolve));
  rmSync(root, { recursive: true });
});

function attackProject(permissions?: string): string {
  const targets = {
    secretFile: join(root, 'secret'),
    outside: join(root, 'outside'),
    runFolder: join(root, 'run'),
    port,
    hubPid: process.pid,
  };
  return writeAttackProject(root, targets, permissions);
}

function logOf(runFolder: string): string {
  return readFileSync(join(runFolder, 'logs', 'rank-0.log'), 'utf8');
}

function outcomes(runFolder: string): Record<string, unknown> {
  const line = /ATTACKS (\{.*\})/.exec(logOf(runFolder))?.[1];
  if (line === undefined) throw new Error(`The project did not report:\n${logOf(runFolder)}`);
  return JSON.parse(line) as Record<string, unknown>;
}

describe.skipIf(!isLinux)(`a project that attacks${isLinux ? '' : ' (not run: only Linux limits native code)'}`, () => {
  it('reads, writes, connects, starts and signals nothing, in JavaScript and in native code, and still trains', async () => {
    const run = await startRun(hub(), attackProject(), {}, join(root, 'run'));
    const record = await run.ended;
    expect(record.error).toBeNull();
    expect(record.status).toBe('finished');
    expect(outcomes(run.folder)).toEqual({
      readPasswords: denied,
      readSecret: denied,
      readSecretLater: denied,
      readParentFolder: denied,
      writeOutside: denied,
      writeOwnSource: denied,
      writeRecord: denied,
      appendEvents: denied,
      replaceFolder: denied,
      plantFile: denied,
      writeOwnPart: 'written',
      linkOutside: denied,
      connect: 'EACCES',
      fetch: 'EACCES',
      datagram: 'EACCES',
      secretVariable: 'absent',
      declaredVariable: 'absent',
      searchPath: 'there',
      spawn: denied,
      exec: denied,
      thread: denied,
      killHub: 'EPERM',
      nativeReadSecret: 'refused',
      nativeWriteOutside: 'refused',
      nativeWriteRecord: 'refused',
      nativePlantFile: 'refused',
      nativeLink: 'refused',
      nativeSecondName: 'refused',
      nativeEnvironmentOfHub: 'refused',
      nativeMemoryOfHub: 'refused',
      nativeSocket: 'refused',
      nativeFork: 'refused',
      nativeShell: 'refused',
      nativeThreads: hasCompiler ? 'refused' : 'not tried',
      nativeRing: 'refused',
      nativeRights: 'refused',
      nativeTimes: 'refused',
      nativeAttribute: 'refused',
      nativeWatch: 'refused',
      nativeLimitOfHub: 'refused',
      nativePriorityOfHub: 'refused',
      nativeSignalByFile: 'refused',
      openFolders: denied,
    });
    const granted = readFileSync(join(run.folder, 'events.jsonl'), 'utf8')
      .split('\n')
      .find((line) => line.includes('"granted"'));
    expect(granted).toContain('The kernel limits files, network, programs, for all threads.');
    expect(readdirSync(join(root, 'outside'))).toEqual([]);
  });

  it('gets what the user allowed, and nothing else', async () => {
    const asked = `{ read: ['${root}/secret'], write: ['${root}/outside'], network: true, environment: ['TEST_DECLARED'] }`;
    const run = await startRun(hub(), attackProject(asked), {});
    expect((await run.ended).error).toBeNull();
    expect(outcomes(run.folder)).toMatchObject({
      readPasswords: denied,
      readSecret: 'hunter2',
      readSecretLater: 'hunter2',
      writeOwnSource: denied,
      connect: 'connected',
      fetch: 204,
      datagram: 'sent',
      secretVariable: 'absent',
      declaredVariable: 'declared',
      spawn: denied,
      killHub: 'EPERM',
      nativeReadSecret: 'opened',
      nativeWriteOutside: 'opened',
      nativeEnvironmentOfHub: 'refused',
      nativeFork: 'refused',
    });
    expect(readdirSync(join(root, 'outside')).sort()).toEqual(['native', 'planted']);
  });

  it('trains if its folder and its run are reached through symbolic links', async () => {
    attackProject();
    symlinkSync(root, join(root, 'link'));
    const run = await startRun(hub(), join(root, 'link', 'attack'), {}, join(root, 'link', 'run'));
    expect((await run.ended).error).toBeNull();
    expect(outcomes(join(root, 'run'))).toMatchObject({ readSecret: denied, nativeReadSecret: 'refused' });
  });

  it('is ended by its limit on memory, not by the machine', async () => {
    const limit = { memoryLimitBytes: 512 * 2 ** 20 };
    const run = await startRun(hub(), attackProject(), { ...limit, hyperparameters: { allocate: true } });
    const record = await run.ended;
    expect(record.status).toBe('failed');
    expect(record.error?.message).toContain('Array buffer allocation failed');
    const megabytes = [...logOf(run.folder).matchAll(/ALLOCATED (\d+)/g)].map(([, count]) => Number(count));
    expect(megabytes.at(-1)).toBeLessThanOrEqual(512);
    expect(megabytes.at(-1)).toBeGreaterThanOrEqual(256);
  });

  it('writes of a search only into its pool, where nothing leads out of it', async () => {
    const [project, folder] = [join(root, 'curious'), join(root, 'search')];
    mkdirSync(project);
    writeFileSync(
      join(project, 'project.ts'),
      `import { symlinkSync, writeFileSync } from 'node:fs';
      import { createSplits, defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';
      const attempt = (act: () => void) => {
        try { act(); return 'done'; } catch (error) { return (error as { code: string }).code; }
      };
      export default defineProject({
        name: 'Curious',
        description: 'Writes where it must not.',
        task: 'classification',
        hyperparameters: z.object({}),
        data() {
          const splits = splitDataset(gaussianBlobs({ samples: 30, seed: 7 }), { validation: 10, test: 10 }, new Generator(7, 'split'));
          const outcome = [
            attempt(() => writeFileSync('${folder}/discovery.json', '{}')),
            attempt(() => writeFileSync('${folder}/rounds.jsonl', '')),
            attempt(() => writeFileSync('${folder}/runs', '')),
            attempt(() => symlinkSync('${root}/secret', '${folder}/pool/pool.json')),
            attempt(() => writeFileSync('${folder}/pool/own', '')),
            '', '', '', '', '',
          ];
          return createSplits({ ...splits, pool: { texts: { outcome } } });
        },
        model: ({ targetSize }) => tf.sequential({ layers: [tf.layers.dense({ inputShape: [2], units: targetSize })] }),
      });`,
    );
    const search = searchOf({ project: { name: 'Curious', folder: project } });
    await createSearch(folder, search);
    const { pool } = await openPool(folder, search);
    expect(pool.texts.outcome.slice(0, 5)).toEqual([denied, denied, denied, denied, 'done']);
    expect(readdirSync(folder).sort()).toEqual(['discovery.json', 'pool']);
  });
});
