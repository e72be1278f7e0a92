import { join } from 'node:path';
import { type Figure, figure, median } from '../figures.ts';
import { type Link, stepsPerSecond, withNodes } from './nodes.ts';

const project = join(import.meta.dirname, '..', 'projects', 'blobs');
const turns = 3;
const usual = '--members 2 --devices cpu:0 --log-every-steps 1 --evaluate-every-epochs 100';

interface Contest {
  name: string;
  target: number;
  /** What is measured, and what it is compared with. */
  sides: readonly [Side, Side];
  /** Of `tutti train`, after those that all have. */
  args: string;
}

interface Side {
  link: Link;
  hosts: string;
}

const twoNodes = '10.77.0.1:1,10.77.0.2:1';
const contests: Contest[] = [
  {
    // A megabyte of gradients.
    name: 'data-parallel training on 2 nodes with 10 Gbit/s, over one node with as many ranks',
    target: 0.9,
    sides: [
      { link: { rate: '10gbit' }, hosts: twoNodes },
      { link: { rate: '10gbit' }, hosts: '10.77.0.1:2' },
    ],
    args: '--strategy data-parallel --width 512 --batch-size 512 --max-epochs 12',
  },
  {
    // A forward pass of the next batch takes longer than the link delays the logits of this one.
    name: 'joint training, pipelined, over a link of 50 ms each way, over one without delay',
    target: 0.9,
    sides: [
      { link: { delayMs: 50 }, hosts: twoNodes },
      { link: { delayMs: 0 }, hosts: twoNodes },
    ],
    args: '--strategy joint --strategy.mode pipelined --width 2048 --batch-size 1024 --max-epochs 3',
  },
];

/** Rates of training over emulated links, in turns: medians of the ratios. */
export async function trainingFigures(note: (message: string) => void): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, target, sides, args } of contests) {
    const rates: [number, number][] = [];
    for (let turn = 1; turn <= turns; turn += 1) {
      note(`${name}, turn ${turn} of ${turns}`);
      const [first, second] = sides;
      rates.push([await rateOn(first, args), await rateOn(second, args)]);
    }
    const value = median(rates.map(([measured, compared]) => measured / compared));
    const peer = { name: 'compared with, steps/s', value: median(rates.map(([, compared]) => compared)) };
    figures.push({ ...figure({ suite: 'cluster', name, value, unit: 'x', better: 'higher', target }), peer });
  }
  return figures;
}

const rateOn = ({ link, hosts }: Side, args: string): Promise<number> =>
  withNodes(link, () => stepsPerSecond(hosts, [project, ...`${usual} ${args}`.split(' ')]));
