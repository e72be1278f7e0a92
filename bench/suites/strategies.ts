import { measureDigits } from '../strategies/digits.ts';
import { dataParallelSpeedup, shareOfAveraging, sharesOfJointTraining, warmUp } from '../strategies/shares.ts';
import { findPeer } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const rounds = 5;

/** What training together costs and gains on two cores. Runs that are compared take turns: each figure is a median of ratios within rounds. */
export const suite: Suite = {
  name: 'strategies',
  async run(note) {
    await warmUp();
    const joint: number[] = [];
    const pipelined: number[] = [];
    const averaging: number[] = [];
    const speedups: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      note(`round ${round} of ${rounds}`);
      const shares = await sharesOfJointTraining();
      joint.push(shares.reduce);
      pipelined.push(shares.pipelined);
      averaging.push(await shareOfAveraging());
      speedups.push(await dataParallelSpeedup());
    }
    note('two networks from command to end');
    return [
      share('joint training, time a step over that of independent members', joint, 5),
      share('joint training, pipelined, time a step over that of independent members', pipelined, 2),
      share("HDET's averaging at T = 1000, share of the time", averaging, 0.1),
      figure({
        suite: 'strategies',
        name: 'data-parallel on two cores against one core, samples per second',
        value: median(speedups),
        unit: 'x',
        better: 'higher',
        target: 1.7,
      }),
      ...(await measureDigits(findPeer(), note)),
    ];
  },
};

function share(name: string, shares: readonly number[], target: number): Figure {
  return figure({ suite: 'strategies', name, value: median(shares) * 100, unit: '%', better: 'lower', target });
}
