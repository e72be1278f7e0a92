import type { Blas } from '../../protocol/blas.ts';
import { fastestBlas, readSurvey } from '../../src-main/backends/blas-survey.ts';
import { compare, type Row, watchMemory } from '../compute/contest.ts';
import { measureJob } from '../compute/job.ts';
import { findPeer, type Peer, Stepper } from '../compute/steppers.ts';
import type { Figure, Suite } from '../figures.ts';

/** `own` and `blas`: at most so many times PyTorch's time, with own kernels and with a BLAS; null: only watched. */
const rows: (Row & { own: number | null; blas: number })[] = [
  { name: 'MLP 3072-512-512-10, batch 128, Adam', case: 'mlp', steps: 20, memorySteps: 1000, own: 1.3, blas: 0.9 },
  { name: 'CNN 28x28x1, batch 64, Adam', case: 'cnn', steps: 15, memorySteps: 1000, own: 1.6, blas: 1 },
  { name: 'two nets 1-50-1, 20 samples, Adam', case: 'two-nets', steps: 500, memorySteps: 1000, own: 0.9, blas: 0.9 },
  { name: 'ResNet-18 for CIFAR, batch 32, SGD', case: 'resnet-18', steps: 3, memorySteps: 0, own: null, blas: 1.3 },
];

/** Training steps and whole jobs on one core, beside PyTorch on one thread in the same minutes. */
export const suite: Suite = {
  name: 'compute',
  async run(note) {
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
    const blas = fastestBlas(await readSurvey())?.blas ?? null;
    if (blas === null) note('this system has no BLAS: rows with one are left out');
    const figures: Figure[] = [];
    for (const row of rows) {
      note(row.name);
      // AVX2, on processors that have it.
      const coreType = process.arch === 'x64' ? 'Haswell' : null;
      figures.push(...(await contest(row, row.own, null, peer, coreType)));
      if (blas !== null) figures.push(...(await contest(row, row.blas, blas, peer, blas.coreType)));
    }
    for (const members of [1, 2]) {
      note(`example 00 as a whole job, members: ${members}`);
      figures.push(...(await measureJob(members, peer)));
    }
    return figures;
  },
};

async function contest(row: Row, target: number | null, blas: Blas | null, peer: Peer | null, coreType: string | null) {
  const ours = await Stepper.ofTutti(blas);
  const other = peer === null ? null : await Stepper.ofPyTorch(peer, coreType);
  try {
    return [...(await compare(row, target, ours, other)), ...(await watchMemory(row, ours))];
  } finally {
    ours.stop();
    other?.stop();
  }
}
