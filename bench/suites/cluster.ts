import { trainingFigures } from '../cluster/training.ts';
import type { Durations } from '../collectives/hub-group.ts';
import { findMpi4py, measureMpi, measureMpi4py } from '../collectives/mpi-group.ts';
import type { Peer } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';
import { measureRecording, pointsPerSecond } from '../hub/recording.ts';

const rounds = 5;

interface Row {
  name: string;
  unit: 'µs' | 'ms';
  /** Upper bound of the ratio to mpi4py. */
  target: number | null;
}

const rows: Row[] = [
  { name: 'all-gather 8 KB', unit: 'µs', target: 1 },
  { name: 'all-reduce 1 MB', unit: 'ms', target: null },
  { name: 'all-reduce 40 MB', unit: 'ms', target: 1 },
];

/**
 * Collectives over Open MPI on this machine, in alternation with mpi4py over the same library: medians of rank 0's time
 * per call. Training between two emulated nodes, and the hub of many ranks.
 */
export const suite: Suite = {
  name: 'cluster',
  async run(note) {
    const peer = findMpi4py();
    if (peer === null) note('no Python here has mpi4py with Open MPI (TUTTI_PYTHON): nothing is compared with it');
    const figures: Figure[] = [];
    for (const worldSize of [2, 4]) {
      const measured: Round[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        note(`${worldSize} ranks, round ${round} of ${rounds}`);
        const ours = await measureMpi(worldSize);
        measured.push({ ours, theirs: peer === null ? null : await measureMpi4py(peer, worldSize) });
      }
      for (const row of rows) figures.push(...figuresOf(row, worldSize, measured, peer));
    }
    if (process.getuid?.() === 0) figures.push(...(await trainingFigures(note)));
    else note('only root can emulate nodes: no training between them');
    return [...figures, await hubFigure(note)];
  },
};

/** The hub of a launch with many ranks. */
async function hubFigure(note: (message: string) => void): Promise<Figure> {
  const ranks = 64;
  note(`hub of ${ranks} ranks`);
  const { share, points } = await measureRecording(ranks);
  const name = `hub, ${ranks} ranks x ${pointsPerSecond} points/s (${points} points kept)`;
  return figure({ suite: 'cluster', name, value: 100 * share, unit: '% of a core', better: 'lower', target: 100 });
}

interface Round {
  ours: Durations;
  theirs: Durations | null;
}

/** The time of a call, and its ratio to that of mpi4py in the same round. */
function figuresOf(
  { name, unit, target }: Row,
  worldSize: number,
  measured: readonly Round[],
  peer: Peer | null,
): Figure[] {
  const perMs = unit === 'µs' ? 1000 : 1;
  const oursMs = measured.map(({ ours }) => median(ours.get(name) ?? []));
  const of = { suite: 'cluster', name: `${name} over MPI, ${worldSize} ranks`, better: 'lower' } as const;
  const own = figure({ ...of, value: median(oursMs) * perMs, unit, target: null });
  if (peer === null) return [own];
  const theirsMs = measured.map(({ theirs }) => median(theirs?.get(name) ?? []));
  const ratio = median(oursMs.map((ms, round) => ms / theirsMs[round]));
  const versus = { name: `mpi4py ${peer.version}, ${unit}`, value: median(theirsMs) * perMs };
  return [own, { ...figure({ ...of, value: ratio, unit: 'x mpi4py', target }), peer: versus }];
}
