import { measureGloo } from '../collectives/gloo-group.ts';
import { type Durations, measureOurs, type Way } from '../collectives/hub-group.ts';
import { findPeer, type Peer } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const rounds = 3;

interface Row {
  name: string;
  way: Way;
  unit: 'µs' | 'ms';
  /** Upper bounds by number of ranks; others have no target. */
  targets: Record<number, number>;
}

const rows: Row[] = [
  { name: 'all-gather 8 KB', way: 'mapped', unit: 'µs', targets: { 2: 100, 4: 150, 8: 400 } },
  { name: 'all-reduce 1 MB', way: 'mapped', unit: 'ms', targets: {} },
  { name: 'all-reduce 40 MB', way: 'files', unit: 'ms', targets: { 2: 30, 4: 60 } },
  { name: 'all-reduce 40 MB', way: 'mapped', unit: 'ms', targets: { 2: 15, 4: 27 } },
];

/** Collectives between real processes, in alternation with PyTorch's gloo: medians of rank 0's time per call. */
export const suite: Suite = {
  name: 'collectives',
  async run(note) {
    const peer = findPeer();
    if (peer === null) note('no python3 here has torch: nothing is compared with gloo');
    const figures: Figure[] = [];
    for (const worldSize of [2, 4, 8]) {
      const measured: Round[] = [];
      for (let round = 1; round <= rounds; round++) {
        note(`${worldSize} ranks, round ${round} of ${rounds}`);
        measured.push(await measureRound(worldSize, peer));
      }
      for (const row of rows) figures.push(...figuresOf(row, worldSize, measured, peer));
    }
    return figures;
  },
};

interface Round extends Record<Way, Durations> {
  gloo: Durations | null;
}

async function measureRound(worldSize: number, peer: Peer | null): Promise<Round> {
  return {
    mapped: await measureOurs(worldSize, 'mapped'),
    gloo: peer === null ? null : await measureGloo(peer, worldSize),
    files: await measureOurs(worldSize, 'files'),
  };
}

/** The time of a call, and its ratio to gloo's in the same round. */
function figuresOf(row: Row, worldSize: number, measured: readonly Round[], peer: Peer | null): Figure[] {
  const { unit, targets } = row;
  const how = row.name.startsWith('all-reduce') ? (row.way === 'mapped' ? ', mapped' : ', files') : '';
  const name = `${row.name}${how}, ${worldSize} ranks`;
  const perMs = unit === 'µs' ? 1000 : 1;
  const oursMs = measured.map((round) => median(round[row.way].get(row.name) ?? []));
  const value = median(oursMs) * perMs;
  const of = { suite: 'collectives', name, better: 'lower' } as const;
  const own = figure({ ...of, value, unit, target: targets[worldSize] ?? null });
  if (peer === null) return [own];
  const glooMs = measured.map(({ gloo }) => median(gloo?.get(row.name) ?? []));
  const ratio = median(oursMs.map((ms, round) => ms / glooMs[round]));
  const target = worldSize in targets ? 1 : null;
  const versus = { name: `PyTorch ${peer.version} gloo, ${unit}`, value: median(glooMs) * perMs };
  return [own, { ...figure({ ...of, value: ratio, unit: 'x gloo', target }), peer: versus }];
}
