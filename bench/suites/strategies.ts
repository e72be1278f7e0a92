import { findPeer, type Peer } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';
import { measureDigits } from '../strategies/digits.ts';
import { dataParallelGainOf } from '../strategies/peer.ts';
import { gainsOfTwoRanks, shareOfAveraging, sharesOfJointTraining, warmUp } from '../strategies/shares.ts';

const rounds = 5;

/**
 * Cost and gain of training together on two cores. Compared runs alternate: each figure is a median of the ratios of
 * rounds.
 */
export const suite: Suite = {
  name: 'strategies',
  async run(note) {
    const peer = findPeer();
    await warmUp();
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      note(`round ${round} of ${rounds}`);
      measured.push(await measureRound(peer));
    }
    note('two networks from command to end');
    return [...figuresOf(measured, peer), ...(await measureDigits(peer, note))];
  },
};

interface Round {
  joint: { reduce: number; pipelined: number };
  averaging: number;
  gains: { dataParallel: number; independent: number };
  /** NaN without PyTorch. */
  peerGain: number;
}

async function measureRound(peer: Peer | null): Promise<Round> {
  return {
    joint: await sharesOfJointTraining(),
    averaging: await shareOfAveraging(),
    gains: await gainsOfTwoRanks(),
    peerGain: peer === null ? NaN : await dataParallelGainOf(peer),
  };
}

function figuresOf(measured: readonly Round[], peer: Peer | null): Figure[] {
  const medianOf = (value: (round: Round) => number): number => median(measured.map(value));
  const share = (name: string, value: number, target: number): Figure =>
    figure({ suite: 'strategies', name, value: value * 100, unit: '%', better: 'lower', target });
  const gain = (name: string, value: number, target: number | null): Figure =>
    figure({ suite: 'strategies', name, value, unit: 'x', better: 'higher', target });
  const dataParallel = gain(
    'data-parallel on two cores against one core, samples per second',
    medianOf(({ gains }) => gains.dataParallel),
    1.7,
  );
  const name = `PyTorch ${peer?.version} DDP over gloo, x`;
  const time = 'time a step over that of independent members';
  return [
    share(
      `joint training, ${time}`,
      medianOf(({ joint }) => joint.reduce),
      5,
    ),
    share(
      `joint training, pipelined, ${time}`,
      medianOf(({ joint }) => joint.pipelined),
      2,
    ),
    share(
      "HDET's averaging at T = 1000, share of the time",
      medianOf(({ averaging }) => averaging),
      0.1,
    ),
    peer === null ? dataParallel : { ...dataParallel, peer: { name, value: medianOf(({ peerGain }) => peerGain) } },
    gain(
      'two independent members of the same network against one',
      medianOf(({ gains }) => gains.independent),
      null,
    ),
  ];
}
