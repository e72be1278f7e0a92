import { type Figure, figure, median } from '../figures.ts';
import type { Stepper } from './steppers.ts';

/** A network and how it is measured. */
export interface Row {
  name: string;
  case: string;
  /** Steps of one round: few that are long, many that are short. */
  steps: number;
  /** Steps after which memory is looked at again; 0 where they would take too long. */
  memorySteps: number;
}

const rounds = 5;

/**
 * Trains the same network here and there, a round each in turn, so that what else the machine does strikes both. The figure is the median
 * of the rounds' ratios.
 */
export async function compare(row: Row, target: number | null, ours: Stepper, peer: Stepper | null): Promise<Figure[]> {
  const oursMs: number[] = [];
  const peerMs: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const own = median((await ours.train(row.case, row.steps)).stepsMs);
    const other = peer === null ? NaN : median((await peer.train(row.case, row.steps)).stepsMs);
    if (round === 0) continue;
    oursMs.push(own);
    peerMs.push(other);
  }
  const of = (value: number, unit: string, bound: number | null): Figure =>
    figure({ suite: 'compute', name: `${row.name}: ${ours.description}`, value, unit, better: 'lower', target: bound });
  const own = of(median(oursMs), 'ms a step', null);
  if (peer === null) return [own];
  const ratio = of(median(oursMs.map((ms, round) => ms / peerMs[round])), 'x PyTorch', target);
  return [own, { ...ratio, peer: { name: `${peer.description}, ms`, value: median(peerMs) } }];
}

/** What tensors and heap have grown by over many steps, after a few that fill what is kept from step to step. */
export async function watchMemory(row: Row, ours: Stepper): Promise<Figure[]> {
  if (row.memorySteps === 0) return [];
  const before = await ours.train(row.case, 1);
  const after = await ours.train(row.case, row.memorySteps);
  const of = (what: string, value: number, unit: string): Figure =>
    figure({
      suite: 'compute',
      name: `${row.name}: ${ours.description}, ${what} over ${row.memorySteps} steps`,
      value,
      unit,
      better: 'lower',
      target: 0,
    });
  return [
    of('tensors', after.tensors - before.tensors, 'more'),
    of('heap', (after.heapBytes - before.heapBytes) / 2 ** 20, 'MiB more'),
  ];
}
