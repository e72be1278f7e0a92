import { type Figure, figure, median } from '../figures.ts';
import { Stepper } from './steppers.ts';

const rounds = 5;
const steps = 100;

/**
 * Eight members 64-64-10 as one computation and one after the other, in alternating rounds, on one core with Tutti's
 * kernels.
 */
export async function measureStacked(batchSize: number, target: number | null): Promise<Figure[]> {
  const stepper = await Stepper.ofTutti(null);
  const [aloneMs, stackedMs]: number[][] = [[], []];
  try {
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      const alone = median((await stepper.train(`members-${batchSize}-alone`, steps)).stepsMs);
      const stacked = median((await stepper.train(`members-${batchSize}-stacked`, steps)).stepsMs);
      if (round === 0) continue;
      aloneMs.push(alone);
      stackedMs.push(stacked);
    }
  } finally {
    stepper.stop();
  }
  const name = `8 members 64-64-10 as one computation, batch ${batchSize}, Adam`;
  const speedup = median(aloneMs.map((ms, round) => ms / stackedMs[round]));
  return [
    figure({ suite: 'compute', name, value: median(stackedMs), unit: 'ms a step', better: 'lower', target: null }),
    {
      ...figure({ suite: 'compute', name, value: speedup, unit: 'x one by one', better: 'higher', target }),
      peer: { name: 'one by one, ms', value: median(aloneMs) },
    },
  ];
}
