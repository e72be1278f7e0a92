import { type Figure, figure, median } from '../figures.ts';
import type { Stepper } from './steppers.ts';

/** A network and the settings of its measurement. */
export interface Row {
  suite: string;
  name: string;
  case: string;
  /** Steps of one round: few if they are long, many if they are short. */
  steps: number;
}

const rounds = 5;

/**
 * Trains the same network in Tutti and in the peer, with alternating rounds, so that the machine's other load affects
 * both. The figure is the median of the rounds' ratios.
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
    figure({ suite: row.suite, name: `${row.name}: ${ours.description}`, value, unit, better: 'lower', target: bound });
  const own = of(median(oursMs), 'ms a step', null);
  if (peer === null) return [own];
  const ratio = of(median(oursMs.map((ms, round) => ms / peerMs[round])), 'x PyTorch', target);
  return [own, { ...ratio, peer: { name: `${peer.description}, ms`, value: median(peerMs) } }];
}
