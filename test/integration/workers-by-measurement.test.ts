import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { pidOf, resume, train, useHub } from './harness.ts';

const { hub, home } = useHub();
const config: RunConfigInput = { members: 3, devices: 'cpu:0', maxEpochs: 4, seed: 5, ema: { decay: 0.8 } };
const variable = 'TUTTI_MEASURE_SECONDS';

function measureFor(seconds: number): void {
  const before = process.env[variable];
  process.env[variable] = String(seconds);
  onTestFinished(() => {
    process.env[variable] = before;
  });
}

/** The last checkpoint of each member, byte for byte, by path. */
function filesOf(folder: string): Map<string, string> {
  const files = [0, 1, 2].map((rank) => join('checkpoints', `rank-${rank}`, 'final.safetensors'));
  return new Map(files.map((file) => [file, readFileSync(join(folder, file)).toString('base64')]));
}

/** Processes that this one started and that still measure. */
function measuringProcesses(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.includes('measure-workers') && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home());
    } catch {
      return false;
    }
  });
}

describe('workers chosen by measurement', () => {
  it.each(['wasm' as const, 'cpu' as const])('train the same bits as either choice (%s)', async (backend) => {
    const apart = await train(hub(), 'blobs', { ...config, backend });
    expect(apart.record.workers).toEqual({ members: 1, why: expect.stringContaining(`${variable} is 0`) as string });
    expect(new Set([0, 1, 2].map((rank) => pidOf(apart.updates, rank))).size).toBe(3);
    const together = await train(hub(), 'blobs', { ...config, backend, membersPerDevice: 3 });
    expect(together.record.workers).toBeUndefined();
    expect(new Set([0, 1, 2].map((rank) => pidOf(together.updates, rank))).size).toBe(1);
    measureFor(0.3);
    const chosen = await train(hub(), 'blobs', { ...config, backend });
    expect(chosen.record.status).toBe('finished');
    expect(measuringProcesses()).toEqual([]);
    const { workers, plan } = chosen.record;
    expect(workers?.measured?.map(({ members }) => members)).toEqual([1, 3]);
    expect(plan.map(({ stack }) => stack)).toEqual(workers?.members === 3 ? [0, 0, 0] : [0, 1, 2]);
    expect(filesOf(apart.folder)).toEqual(filesOf(together.folder));
    expect(filesOf(chosen.folder)).toEqual(filesOf(together.folder));
  });

  it('are measured once, and stay as they are in a resume', async () => {
    measureFor(0.1);
    const first = await train(hub(), 'blobs', { ...config, batchSize: 20 });
    const cache = join(home(), 'cache', 'workers.json');
    const kept = readFileSync(cache, 'utf8');
    const second = await train(hub(), 'blobs', { ...config, batchSize: 20, seed: 6, maxEpochs: 5 });
    expect(second.record.workers).toEqual(first.record.workers);
    expect(readFileSync(cache, 'utf8')).toBe(kept);
    await rm(cache);
    const resumed = await resume(hub(), first.folder, { maxEpochs: 6 });
    expect(resumed.status).toBe('finished');
    expect(resumed.workers).toEqual(first.record.workers);
    expect(resumed.plan).toEqual(first.record.plan);
  });
});

/** Something that a project does only the first time that it loads its data. */
function once(name: string, what: string): string {
  return `const marker = join(folders.cache, '${name}');
    if (!existsSync(marker)) { writeFileSync(marker, ''); ${what} }`;
}

describe('a measurement that is not possible', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-measured-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function write(layers: string, first: string): Promise<string> {
    const own = await mkdtemp(join(folder, 'project-'));
    await writeFile(
      join(own, 'project.ts'),
      `import { existsSync, writeFileSync } from 'node:fs';
      import { join } from 'node:path';
      import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';
      export default defineProject({
        name: 'Measured', description: 'For the test.', task: 'classification', hyperparameters: z.object({}),
        data({ folders }) {
          ${first}
          return splitDataset(gaussianBlobs({ samples: 60, seed: 7 }), { validation: 0.2 }, new Generator(7, 'split'));
        },
        model: ({ rank, targetSize }) => tf.sequential({ layers: [${layers}] }),
      });`,
    );
    return own;
  }

  const dense = 'tf.layers.dense({ units: 4, inputShape: [2] }), tf.layers.dense({ units: targetSize })';
  const differing = dense.replace('units: 4', 'units: 4 + rank');
  const convolved =
    'tf.layers.reshape({ targetShape: [2, 1], inputShape: [2] }), tf.layers.conv1d({ filters: 2, kernelSize: 1 }), ' +
    'tf.layers.flatten(), tf.layers.dense({ units: targetSize })';
  const kill = once('killed', "process.kill(process.pid, 'SIGKILL');");
  const fail = once('failed', "throw new Error('no data today');");

  it.each([
    ['a killed process', dense, kill, /because steps could not be measured: .* by signal SIGKILL/],
    ['a failed one', dense, fail, /because steps could not be measured: .*no data today/],
    ['differing models', differing, '', /because their models differ: The model of rank 1 differs/],
    ['convolutions', convolved, '', /because some layers run member by member also together: conv1d/],
  ])('%s: the run says so and trains one by one', async (_, layers, first, why) => {
    measureFor(0.1);
    const { record } = await train(hub(), await write(layers, first), { members: 2, devices: 'cpu:0', maxEpochs: 1 });
    expect(record.error).toBeNull();
    expect(record.status).toBe('finished');
    expect(measuringProcesses()).toEqual([]);
    expect(record.workers?.members).toBe(1);
    expect(record.workers?.why).toMatch(/^Each member has a worker of its own, /);
    expect(record.workers?.why).toMatch(why);
  });
});
