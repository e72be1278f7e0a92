import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { readCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import { type Tensor, tf } from '../../../workers/tensorflow/tf.ts';
import { readZip } from '../export/zip-reader.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';
import { sourceWithActivations, tinyProject, writeTinyProject } from './tiny-project.ts';

const id = 'run-1';

async function writeCheckpoint(folder: string, rank: number, name: string, step: number): Promise<void> {
  const weights = Buffer.from(`weights of rank ${rank}, ${name}`);
  const sha256 = createHash('sha256').update(weights).digest('hex');
  const described = { format: 1, rank, name, epoch: 0, step, monitor: null, score: null, sha256 };
  const base = join(folder, 'checkpoints', `rank-${rank}`, name);
  await mkdir(dirname(base), { recursive: true });
  await writeFile(`${base}.safetensors`, weights);
  await writeFile(
    `${base}.json`,
    JSON.stringify({ ...described, bytes: weights.length, savedAt: '2026-01-02T03:05:05.000Z' }),
  );
}

async function openRun(status: 'finished' | 'running' = 'finished') {
  const opened = await openService();
  const folder = join(opened.home, 'home', 'runs', id);
  await createRunFolder(folder, runRecord({ status }));
  for (const rank of [0, 1]) {
    await writeCheckpoint(folder, rank, 'ensemble-best', 10);
    await writeCheckpoint(folder, rank, 'epoch-00000', 10);
  }
  await opened.page.hub.runs({});
  return { ...opened, folder };
}

async function readAll(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'hex')] as const)));
}

describe('pins', () => {
  it('are added and removed one by one, without changing the pins of other pages', async () => {
    const { page } = await openRun();
    const pinned = async () =>
      (await page.hub.checkpoints(id)).cells
        .filter(({ isPinned }) => isPinned)
        .map(({ record }) => `${record.rank} ${record.name}`);
    await Promise.all([
      page.hub.pinCheckpoints(id, { checkpoints: [{ rank: 1, name: 'ensemble-best' }], isPinned: true }),
      page.hub.pinCheckpoints(id, { checkpoints: [{ rank: 0, name: 'epoch-00000' }], isPinned: true }),
    ]);
    expect((await pinned()).sort()).toEqual(['0 epoch-00000', '1 ensemble-best']);
    await page.hub.pinCheckpoints(id, { checkpoints: [{ rank: 1, name: 'ensemble-best' }], isPinned: false });
    expect(await pinned()).toEqual(['0 epoch-00000']);
  });

  it('need a checkpoint', async () => {
    const { page } = await openRun();
    const absent = { checkpoints: [{ rank: 0, name: 'final' }], isPinned: true };
    await expect(page.hub.pinCheckpoints(id, absent)).rejects.toThrow('Rank 0 has no checkpoint "final"');
  });
});

describe('deleting checkpoints', () => {
  const chosen = [
    { rank: 0, name: 'epoch-00000' },
    { rank: 1, name: 'ensemble-best' },
  ];

  it('removes them immediately, and undo restores every bit and pin', async () => {
    const { page, folder, home } = await openRun();
    await page.hub.pinCheckpoints(id, { checkpoints: chosen, isPinned: true });
    const before = await readAll(folder);
    const { deletion } = await page.hub.deleteCheckpoints(id, { checkpoints: chosen });
    const names = (await page.hub.checkpoints(id)).cells.map(({ record }) => `${record.rank} ${record.name}`);
    expect(names.sort()).toEqual(['0 ensemble-best', '1 epoch-00000']);
    expect(existsSync(join(folder, 'checkpoints/rank-0/epoch-00000.safetensors'))).toBe(false);
    await page.hub.undoDelete(deletion);
    expect(await readAll(folder)).toEqual(before);
    expect(await readdir(join(home, 'home', 'trash'))).toEqual([]);
  });

  it('deletes none if one is missing', async () => {
    const { page, folder } = await openRun();
    const before = await readAll(folder);
    const request = { checkpoints: [...chosen, { rank: 0, name: 'final' }] };
    await expect(page.hub.deleteCheckpoints(id, request)).rejects.toThrow('Rank 0 has no checkpoint "final"');
    expect(await readAll(folder)).toEqual(before);
  });

  it('does not replace one saved since with the restored one', async () => {
    const { page, folder } = await openRun();
    const { deletion } = await page.hub.deleteCheckpoints(id, { checkpoints: chosen });
    await writeCheckpoint(folder, 1, 'ensemble-best', 20);
    await expect(page.hub.undoDelete(deletion)).rejects.toThrow('was written again meanwhile');
    expect((await page.hub.checkpoints(id)).cells.map(({ record }) => record.step)).toContain(20);
  });
});

it('a training run allows deleting only single epochs', async () => {
  const { page } = await openService();
  const projectFolder = tinyProject;
  const overrides = { maxEpochs: 1_000_000, checkpoints: { everyEpochs: 1 } };
  const run = await page.hub.startRun({ projectFolder, overrides, name: null, out: null });
  const names = async () => (await page.hub.checkpoints(run.id)).cells.map(({ record }) => record.name);
  await expect.poll(names).toContain('ensemble-best');
  // Of both ranks. Each saves when it gets there.
  await expect.poll(async () => (await names()).filter((name) => name === 'epoch-00001').length).toBe(2);
  const remove = (name: string) => page.hub.deleteCheckpoints(run.id, { checkpoints: [{ rank: 0, name }] });
  await expect(remove('ensemble-best')).rejects.toThrow('may replace "ensemble-best" of rank 0');
  await remove('epoch-00001');
  const left = (await page.hub.checkpoints(run.id)).cells.filter(({ record }) => record.name === 'epoch-00001');
  expect(left.map(({ record }) => record.rank)).toEqual([1]);
  await page.hub.abort(run.id);
});

it('chosen checkpoints are exported as layers models with the same predictions', async () => {
  const { page } = await openService();
  const projectFolder = tinyProject;
  const { id: runId } = await page.hub.startRun({ projectFolder, overrides: {}, name: null, out: null });
  await expect.poll(async () => (await page.hub.run(runId)).row.status).toBe('finished');
  const { folder } = await page.hub.run(runId);

  const chosen = { rank: 1, name: 'final' };
  const { path } = await page.hub.exportRun(runId, { formats: ['checkpoints', 'tfjs'], checkpoints: [chosen] });
  const files = readZip(await readFile(path));
  expect([...files.keys()].sort()).toEqual([
    'checkpoints/rank-1/final.json',
    'checkpoints/rank-1/final.safetensors',
    'tfjs/rank-1/final/model.json',
    'tfjs/rank-1/final/weights.bin',
  ]);

  await startBackend('cpu');
  const model = await loadLayersModel(files, 'tfjs/rank-1/final');
  const samples = [
    [0.5, -1.25],
    [2, 3],
    [-4, 0.125],
  ];
  const predicted = model.predict(tf.tensor2d(samples));
  const { tensors } = await readCheckpoint(folder, 1, 'final');
  const weights = new Map(tensors.map(({ name, data }) => [name, Array.from(data, Number)]));
  const expected = samples.flatMap((sample) => twoLayers(sample, weights));
  expect(expected).toHaveLength(9);
  const found = [...(await (predicted as Tensor).data())];
  expect(found).toEqual(expected.map((value) => expect.closeTo(value, 4)));

  await expect(
    page.hub.exportRun(runId, { formats: ['tfjs'], checkpoints: [{ rank: 0, name: 'absent' }] }),
  ).rejects.toThrow('Rank 0 has no checkpoint "absent"');
});

describe('checkpoints of ranks whose models differ', () => {
  const finals = [0, 1].map((rank) => ({ rank, name: 'final' }));

  async function trainedThenChanged() {
    const { home, page } = await openService();
    const projectFolder = await writeTinyProject(home, sourceWithActivations('relu', 'tanh'));
    const { id: runId } = await page.hub.startRun({ projectFolder, overrides: {}, name: null, out: null });
    await expect.poll(async () => (await page.hub.run(runId)).row.status).toBe('finished');
    return { page, runId, projectFolder };
  }

  it('are exported as the models that were trained, even if the source has changed or is gone', async () => {
    const { page, runId, projectFolder } = await trainedThenChanged();
    await rm(projectFolder, { recursive: true });
    const { path, warnings } = await page.hub.exportRun(runId, { formats: ['tfjs'], checkpoints: finals });
    const files = readZip(await readFile(path));
    const activations = [0, 1].map((rank) => {
      const text = files.get(`tfjs/rank-${rank}/final/model.json`)?.toString() ?? '';
      return [...text.matchAll(/"activation":"(\w+)"/g)].map(([, name]) => name);
    });
    expect(activations).toEqual([
      ['relu', 'linear'],
      ['tanh', 'linear'],
    ]);
    expect(warnings).toEqual([]);
  });

  it('are evaluated with their own models, and a changed source is reported', async () => {
    const { page, runId, projectFolder } = await trainedThenChanged();
    const { record } = await page.hub.run(runId);
    const trained = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    const unchanged = await page.hub.evaluateSet(runId, { members: finals, split: 'test' });
    expect(unchanged.warnings).toEqual([]);
    await writeFile(join(projectFolder, 'project.ts'), sourceWithActivations('sigmoid', 'sigmoid'));
    const found = await page.hub.evaluateSet(runId, { members: finals, split: 'test' });
    for (const { members, ensemble } of [unchanged, found]) {
      expect(members.nll).toHaveLength(2);
      expect(members.nll).toEqual(trained?.members.nll.map((nll) => expect.closeTo(nll, 5)));
      expect(ensemble.nll).toBeCloseTo(trained?.ensemble.nll ?? NaN, 5);
    }
    expect(found.warnings).toEqual([expect.stringContaining(`${projectFolder} has changed since the run trained`)]);
  });
});

/** Loads like `tf.loadLayersModel(url)` from a web server. */
function loadLayersModel(files: ReadonlyMap<string, Buffer>, folder: string) {
  const read = (name: string) => files.get(`${folder}/${name}`) ?? Buffer.alloc(0);
  return tf.loadLayersModel({
    load: () =>
      tf.io.getModelArtifactsForJSON(JSON.parse(read('model.json').toString()), async (manifest) => [
        manifest.flatMap(({ weights }) => weights),
        new Uint8Array(read(manifest[0].paths[0])).buffer,
      ]),
  });
}

/** max(0, x W1 + b1) W2 + b2; kernels are row-major, `[inputs, outputs]`. */
function twoLayers(sample: readonly number[], weights: ReadonlyMap<string, number[]>): number[] {
  const dense = (x: readonly number[], layer: string) => {
    const [kernel, biases] = [`${layer}/kernel`, `${layer}/bias`].map((name) => weights.get(name) ?? []);
    return biases.map((bias, out) =>
      x.reduce((sum, value, at) => sum + value * kernel[at * biases.length + out], bias),
    );
  };
  return dense(
    dense(sample, 'dense_0').map((value) => Math.max(0, value)),
    'dense_1',
  );
}
