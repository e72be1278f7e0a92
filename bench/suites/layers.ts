import { compare } from '../compute/contest.ts';
import { layerNames } from '../compute/layers.ts';
import { findPeer, Stepper } from '../compute/steppers.ts';
import type { Figure, Suite } from '../figures.ts';

const stepsOfRound = 10;

/**
 * A training step of each kind of layer on one core, with Tutti's kernels, in alternation with PyTorch on one thread:
 * the ratio of their times; without a peer, Tutti's time.
 */
export const suite: Suite = {
  name: 'layers',
  async run(note) {
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
    const ours = await Stepper.ofTutti(null);
    const other = peer === null ? null : await Stepper.ofPyTorch(peer, null);
    const figures: Figure[] = [];
    try {
      for (const [i, name] of layerNames.entries()) {
        note(name);
        const row = { suite: 'layers', name, case: `layer-${i}`, steps: stepsOfRound };
        figures.push(...(await compare(row, 1, ours, other)).slice(-1));
      }
    } finally {
      ours.stop();
      other?.stop();
    }
    return figures;
  },
};
