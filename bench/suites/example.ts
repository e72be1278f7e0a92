import { findPeer } from '../compute/steppers.ts';
import { measureJob } from '../compute/job.ts';
import type { Figure, Suite } from '../figures.ts';

/** Example 00 from start to plot, next to the same job in PyTorch. */
export const suite: Suite = {
  name: 'example',
  async run(note) {
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
    const figures: Figure[] = [];
    for (const members of [1, 2]) {
      note(`members: ${members}`);
      figures.push(...(await measureJob(members, peer)));
    }
    return figures;
  },
};
