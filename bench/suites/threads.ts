import { availableParallelism } from 'node:os';
import { findPeer, Stepper } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const rows = [
  { name: 'MLP 3072-512-512-10, batch 128, Adam', case: 'mlp', steps: 10 },
  { name: 'CNN 28x28x1, batch 64, Adam', case: 'cnn', steps: 15 },
  { name: 'ResNet-18 for CIFAR, batch 32, SGD', case: 'resnet-18', steps: 2 },
  { name: 'LSTM 128, 40 steps, batch 64, Adam', case: 'lstm-128', steps: 8 },
];
const rounds = 5;

/** One member on two cores: Tutti's kernels with one thread and with two, and PyTorch with two, in turns. */
export const suite: Suite = {
  name: 'threads',
  async run(note) {
    const threads = 2;
    if (availableParallelism() < threads) {
      note(`this machine has fewer than ${threads} cores: nothing is measured`);
      return [];
    }
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
    const ours = [await Stepper.ofTutti(null, 1), await Stepper.ofTutti(null, threads)];
    const all = peer === null ? ours : [...ours, await Stepper.ofPyTorch(peer, null, threads)];
    const figures: Figure[] = [];
    for (const row of rows) {
      note(row.name);
      const times = await timeInTurns(all, row);
      const ratio = (of: number, to: number): number => median(times.map((ms) => ms[of] / ms[to]));
      const common = { suite: 'threads', better: 'higher' } as const;
      const name = `${row.name}: two threads against one`;
      figures.push(figure({ ...common, name, value: ratio(0, 1), unit: 'x', target: 1.7 }));
      if (peer === null) continue;
      const other = { name: `${all[2].description} with two threads, ms`, value: median(times.map((ms) => ms[2])) };
      const value = ratio(1, 2);
      const against = figure({ ...common, better: 'lower', name: row.name, value, unit: 'x PyTorch', target: 1 });
      figures.push({ ...against, peer: other });
    }
    for (const stepper of all) stepper.stop();
    return figures;
  },
};

/** The median step of each, in ms, for each round. The first round warms up. */
async function timeInTurns(all: readonly Stepper[], row: (typeof rows)[number]): Promise<number[][]> {
  const times: number[][] = [];
  for (let round = 0; round <= rounds; round++) {
    const ofRound: number[] = [];
    for (const stepper of all) ofRound.push(median((await stepper.train(row.case, row.steps)).stepsMs));
    if (round > 0) times.push(ofRound);
  }
  return times;
}
