import { expect, it } from 'vitest';
import RunOrigin from '../../src-renderer/views/run/configuration/RunOrigin.vue';
import { runRecord } from '../unit/store/records.ts';
import { mountPage } from './mount-page.ts';

const source = { run: 'run-0', name: 'earlier', folder: '/runs/0', rank: 2, checkpoint: 'final', epoch: 4, step: 50 };

it('a run that was made from checkpoints shows where each member comes from', async () => {
  const epochs = [4, 5, 6, 7].map((epoch) => ({ ...source, checkpoint: `epoch-${epoch}`, epoch }));
  const parts = { method: 'greedy-soup' as const, sources: [source, { ...source, rank: 1 }, ...epochs] };
  const record = runRecord({
    parts: {
      ...parts,
      members: [
        [0, 1],
        [2, 3, 4, 5],
      ],
    },
  });
  const { wrapper } = await mountPage(RunOrigin, { props: { view: { record, folder: '/runs/1' } } });
  expect(wrapper.text()).toContain('Made from checkpoints (greedy-soup)');
  const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
  expect(rows).toEqual([
    ['0', 'earlier run-0', 'final', '2', '5'],
    ['0', 'earlier run-0', 'final', '1', '5'],
    ['1', 'earlier run-0', 'epoch-4 to epoch-7 (4)', '2', '5–8'],
  ]);
  const plain = await mountPage(RunOrigin, { props: { view: { record: runRecord(), folder: '/runs/1' } } });
  expect(plain.wrapper.text()).not.toContain('Made from');
});

it('ranks that share the layers of a member show the seed of that member', async () => {
  const device = { id: 'cpu:0', kind: 'cpu', index: 0, name: 'Core', memoryTotalBytes: null } as const;
  const place = { wave: 0, device: { ...device, memoryUsedBytes: null, load: null, processCount: null } };
  const plan = [0, 1, 2, 3].map((rank) => ({ rank, ...place }));
  const table = async (strategy: 'independent' | 'pipeline') => {
    const config = {
      members: 4,
      strategy: strategy === 'pipeline' ? { kind: strategy, stages: 2 } : { kind: strategy },
    };
    const record = runRecord({ plan, seeds: [42, 43, 44, 45] }, config);
    const { wrapper } = await mountPage(RunOrigin, { props: { view: { record, folder: '/runs/1' } } });
    return wrapper.findAll('tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
  };
  expect(await table('pipeline')).toEqual([
    ['Rank', 'Part', 'Device', 'Wave', 'Seed of the member'],
    ['0', 'member 0, stage 1 of 2', 'cpu:0 Core', '1', '42'],
    ['1', 'member 1, stage 1 of 2', 'cpu:0 Core', '1', '43'],
    ['2', 'member 0, stage 2 of 2', 'cpu:0 Core', '1', '42'],
    ['3', 'member 1, stage 2 of 2', 'cpu:0 Core', '1', '43'],
  ]);
  expect((await table('independent')).slice(0, 2)).toEqual([
    ['Rank', 'Device', 'Wave', 'Seed'],
    ['0', 'cpu:0 Core', '1', '42'],
  ]);
});
