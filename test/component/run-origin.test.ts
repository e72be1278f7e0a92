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
