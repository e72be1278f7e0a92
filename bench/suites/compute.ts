import type { Blas } from '../../core/protocol/machine/devices.ts';
import { fastestBlas, readSurvey } from '../../src-main/backends/blas-survey.ts';
import { compare, type Row } from '../compute/contest.ts';
import { measureStacked } from '../compute/stacked.ts';
import { findPeer, type Peer, Stepper } from '../compute/steppers.ts';
import { type Figure, figure, type Suite } from '../figures.ts';

/**
 * `own` and `blas`: upper bounds of the ratio to PyTorch's time, with Tutti's kernels and with a BLAS; null: no target.
 */
const rows: (Omit<Row, 'suite'> & { own: number | null; blas: number })[] = [
  { name: 'MLP 3072-512-512-10, batch 128, Adam', case: 'mlp', steps: 10, own: 1.3, blas: 0.9 },
  { name: 'CNN 28x28x1, batch 64, Adam', case: 'cnn', steps: 15, own: 1.6, blas: 1 },
  { name: 'two nets 1-50-1, 20 samples, Adam', case: 'two-nets', steps: 500, own: 0.9, blas: 0.9 },
  { name: 'ResNet-18 for CIFAR, batch 32, SGD', case: 'resnet-18', steps: 3, own: null, blas: 1.3 },
  { name: 'LSTM 16, 40 steps, batch 64, Adam', case: 'lstm-16', steps: 30, own: 1.5, blas: 1.5 },
  { name: 'GRU 16, 40 steps, batch 64, Adam', case: 'gru-16', steps: 30, own: 1.5, blas: 1.5 },
  {
    name: 'bidirectional GRU 16, 40 steps, batch 64, Adam',
    case: 'bidirectional-gru-16',
    steps: 20,
    own: 1.5,
    blas: 1.5,
  },
  { name: 'LSTM 128, 40 steps, batch 64, Adam', case: 'lstm-128', steps: 8, own: 1.5, blas: 1.5 },
];

/** Training steps on one core, in alternation with PyTorch on one thread. */
export const suite: Suite = {
  name: 'compute',
  async run(note) {
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
    const blas = fastestBlas(await readSurvey())?.blas ?? null;
    if (blas === null) note('this system has no BLAS: rows with a BLAS are left out');
    const figures: Figure[] = [];
    // AVX2, on processors that support it.
    const plainCore = process.arch === 'x64' ? 'Haswell' : null;
    for (const row of rows) {
      note(row.name);
      const contests: Contest[] = [{ kernels: 'own kernels', target: row.own, blas: null, coreType: plainCore }];
      if (blas !== null) contests.push({ kernels: blas.kind, target: row.blas, blas, coreType: blas.coreType });
      for (const contest of contests)
        figures.push(...(await runContest({ ...row, suite: 'compute' }, contest, peer, note)));
    }
    note('8 members 64-64-10 as one computation');
    figures.push(...(await measureStacked(16, 4)), ...(await measureStacked(64, null)));
    return figures;
  },
};

interface Contest {
  kernels: string;
  target: number | null;
  blas: Blas | null;
  /** The processor whose kernels PyTorch's OpenBLAS uses; null: the library's choice. */
  coreType: string | null;
}

/** A network that a backend cannot train counts as a missed target; the others are still measured. */
async function runContest(row: Row, contest: Contest, peer: Peer | null, note: (message: string) => void) {
  const { kernels, target, blas, coreType } = contest;
  const ours = await Stepper.ofTutti(blas);
  const other = peer === null ? null : await Stepper.ofPyTorch(peer, coreType);
  try {
    return await compare(row, target, ours, other);
  } catch (error) {
    const name = `${row.name}: ${kernels}`;
    note(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return [figure({ suite: 'compute', name, value: NaN, unit: 'x PyTorch', better: 'lower', target })];
  } finally {
    ours.stop();
    other?.stop();
  }
}
