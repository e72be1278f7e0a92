import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createDataset, createSplits } from '../../../workers/data/dataset.ts';
import { distributeData } from '../../../workers/data/distribute.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { FaultyDisk } from '../../faults/faulty-disk.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { temporaryFolder } from './temp-folder.ts';

const splits = createSplits({
  train: createDataset({
    name: 'two',
    featureShape: [1],
    features: Float32Array.of(1, 2),
    targets: Float32Array.of(3, 4),
  }),
});

/** A folder in memory that is full, and one on a disk. */
async function places() {
  const root = await temporaryFolder();
  const [memory, disk] = [join(root, 'memory'), join(root, 'disk')];
  for (const folder of [memory, disk]) await mkdir(folder);
  const faulty = FaultyDisk.install(root);
  onTestFinished(() => faulty.remove());
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  return { memory, disk, faulty, log };
}

const how = (folders: string[], groups = [ProcessGroup.alone(0)]) =>
  ({ mode: 'local', groups, nodeRanks: groups.map(({ rank }) => rank), folders, isWantedLater: true }) as const;

it('data that do not fit into memory are shared through the disk, for all ranks', async () => {
  const { memory, disk, faulty, log } = await places();
  faulty.fault = ({ name, path }) =>
    name === 'writeFile' && path.startsWith(memory) ? { code: 'ENOSPC', half: true } : null;
  const first = await distributeData(how([memory, disk]), () => Promise.resolve(splits));
  expect([existsSync(join(memory, 'data.bin')), existsSync(join(disk, 'data.bin'))]).toEqual([false, true]);
  expect(log.mock.calls.flat()).toEqual([
    expect.stringMatching(
      /memory\/data\.bin \(.*ENOSPC.*\)\. It takes \d+ bytes.* It is shared through .*disk\/data\.bin instead\.$/,
    ),
  ]);
  // A rank of a later wave finds it there.
  const later = await distributeData(how([memory, disk], [ProcessGroup.alone(1)]), () =>
    Promise.reject(new Error('It is there already.')),
  );
  expect(later.splits.train.targets).toEqual(first.splits.train.targets);
});

it('names the bytes of each place when none has room', async () => {
  const { memory, disk, faulty } = await places();
  faulty.fault = ({ name }) => (name === 'writeFile' ? { code: 'ENOSPC' } : null);
  await expect(distributeData(how([memory, disk]), () => Promise.resolve(splits))).rejects.toThrow(
    /memory\/data\.bin.* It takes \d+ bytes, and [\d,]+ bytes are free: make that much room there\.\n.*disk\/data\.bin/,
  );
});

it('ranks of one process share what it loads, without a file', async () => {
  const { memory } = await places();
  const groups = [0, 1].map((rank) => new ProcessGroup(rank, [0, 1], { send: () => expect.unreachable() }, null));
  const load = vi.fn<() => Promise<typeof splits>>(() => Promise.resolve(splits));
  const how = { mode: 'shared', groups, nodeRanks: [0, 1], folders: [memory], isWantedLater: false } as const;
  const own = await distributeData(how, load);
  expect(own.splits).toBe(splits);
  expect(load).toHaveBeenCalledOnce();
  expect(existsSync(join(memory, 'data.bin'))).toBe(false);
});

it.each([
  ['weight 0', { weights: Float32Array.of(0, 0, 2) }, [7]],
  ['a mask', { mask: Uint8Array.of(0, 1, 1) }, [6]],
  [
    'a mask of both its targets',
    { targets: Float32Array.of(5, 5, 6, 6, 7, 8), mask: Uint8Array.of(0, 0, 0, 0, 0, 1) },
    [7, 8],
  ],
  ['nothing that counts', { mask: new Uint8Array(3) }, [5]],
])('broadcasts a sample that counts, where the first has %s', async (_, extras, expected) => {
  const train = createDataset({
    name: 'three',
    featureShape: [1],
    features: Float32Array.of(1, 2, 3),
    targets: Float32Array.of(5, 6, 7),
    ...extras,
  });
  const { groups } = createInMemoryGroup([0, 1]);
  const found = await Promise.all(
    groups.map((group) =>
      distributeData({ ...how([], [group]), mode: 'broadcast' }, () => Promise.resolve(createSplits({ train }))),
    ),
  );
  expect(found.map(({ splits: own }) => [...own.train.targets])).toEqual([[...train.targets], expected]);
});
