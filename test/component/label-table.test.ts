import { expect, it } from 'vitest';
import LabelTable from '../../src-renderer/views/run/ensemble/LabelTable.vue';
import { mountPage } from './mount-page.ts';

const set = { split: 'test', epochs: [3], ensemble: {}, members: {} };
const labels = [
  { label: 'sea', samples: 12, auroc: 0.875, ap: 0.75, f1: 0.5 },
  { label: 'sun', samples: 0, auroc: Number.NaN, ap: Number.NaN, f1: 0 },
];

it('the table of labels shows the scores of the best ensemble, and which are undefined', async () => {
  const sets = [
    { ...set, set: 'final', labels: labels.slice(1) },
    { ...set, set: 'ensemble-best', labels },
  ];
  const { wrapper } = await mountPage(LabelTable, { props: { sets } });
  expect(wrapper.get('h2').text()).toBe('Labels on the test split, ensemble-best');
  const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
  expect(rows[0]).toEqual(['sea', '12', '0.7500', '0.8750', '0.5000']);
  expect(rows[1].slice(0, 3)).toEqual(['sun', '0', '–, not a number (NaN)']);
});
