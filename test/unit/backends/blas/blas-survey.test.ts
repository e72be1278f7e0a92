import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ProbeTask } from '../../../../core/protocol/machine/devices.ts';
import { makeSurvey, readSurvey, type Surveyor } from '../../../../src-main/backends/blas-survey.ts';

let home = '';
let library = '';
let tasks: ProbeTask[] = [];
let refusal: string | null = null;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tutti-survey-'));
  process.env.TUTTI_HOME = home;
  library = join(home, 'libblis.so.4');
  await writeFile(library, 'a library');
  tasks = [];
  refusal = null;
});

afterEach(() => rm(home, { recursive: true, force: true }));

/** Measures 1 GFLOP/s for its first task, 2 for its second. */
const surveyor: Surveyor = {
  find: () => Promise.resolve([{ kind: 'BLIS', library }]),
  refuse: () => refusal,
  probe: (task) => {
    tasks.push(task);
    return Promise.resolve({ kind: 'measured', description: task.kind, gflops: tasks.length });
  },
};

it('measures the built-in kernels and each library once', async () => {
  const first = await readSurvey(surveyor);
  expect(first.own).toMatchObject({ gflops: 1 });
  expect(first.libraries).toEqual([
    { blas: { kind: 'BLIS', library, coreType: null }, reply: { kind: 'measured', description: 'blas', gflops: 2 } },
  ]);
  expect(await readSurvey(surveyor)).toEqual(first);
  expect(tasks).toHaveLength(2);
});

it('measures again after a library was replaced', async () => {
  await readSurvey(surveyor);
  await writeFile(library, 'a newer library');
  expect((await readSurvey(surveyor)).own).toMatchObject({ gflops: 3 });
});

it('never loads a library that somebody else can change, even if it was measured before', async () => {
  await readSurvey(surveyor);
  refusal = 'It is not loaded, because somebody else could have changed it.';
  const { libraries } = await readSurvey(surveyor);
  expect(libraries.map(({ reply }) => reply)).toEqual([{ kind: 'unusable', reason: refusal }]);
  expect(tasks.map(({ kind }) => kind)).toEqual(['backend', 'blas', 'backend']);
  refusal = null;
  expect((await readSurvey(surveyor)).libraries[0].reply.kind).toBe('measured');
});

it('measures again if its file names a library that this system does not have', async () => {
  const first = await readSurvey(surveyor);
  const path = join(home, 'cache', 'blas.json');
  await writeFile(path, JSON.stringify(first).replace(library, '/tmp/planted.so'));
  expect((await readSurvey(surveyor)).libraries.map(({ blas }) => blas.library)).toEqual([library]);
});

it('measures again on request, and stores the result', async () => {
  await readSurvey(surveyor);
  const second = await makeSurvey(surveyor);
  expect(second.own).toMatchObject({ gflops: 3 });
  expect(await readSurvey(surveyor)).toEqual(second);
});

it.each(['{"identity": 1}', 'not JSON'])('measures again if its file contains %s', async (damage) => {
  const first = await readSurvey(surveyor);
  const path = join(home, 'cache', 'blas.json');
  await writeFile(path, damage);
  expect((await readSurvey(surveyor)).own).toMatchObject({ gflops: 3 });
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ identity: first.identity });
});
