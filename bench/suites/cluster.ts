import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { z } from 'zod';
import { runRank } from '../collectives/hub-group.ts';
import { peersFolder } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const rounds = 5;
const worldSize = 2;
const script = join(import.meta.dirname, '..', 'cluster', 'mpi-rank.ts');
const mpirun = ['--allow-run-as-root', '--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '1'];
const lineSchema = z.strictObject({ name: z.string(), durationsMs: z.array(z.number()) });

const rows = [
  { name: 'all-gather 8 KB', unit: 'µs', perMs: 1000 },
  { name: 'all-reduce 40 MB', unit: 'ms', perMs: 1 },
];

/** Collectives by MPI on one machine, in turn with mpi4py on the same library: medians of rank 0's time per call. */
export const suite: Suite = {
  name: 'cluster',
  async run(note) {
    const python = findPython();
    if (python === null) note('no Python here has mpi4py: set TUTTI_BENCH_MPI_PYTHON to one that has');
    const measured: { ours: Medians; peer: Medians | null }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      note(`${worldSize} ranks, round ${round} of ${rounds}`);
      const ours = await measure([process.execPath, script]);
      measured.push({ ours, peer: python === null ? null : await measure([python, join(peersFolder, 'mpi.py')]) });
    }
    return rows.flatMap((row) => figuresOf(row, measured));
  },
};

/** In ms, by the case's name. */
type Medians = ReadonlyMap<string, number>;

function figuresOf(
  { name, unit, perMs }: (typeof rows)[number],
  measured: readonly { ours: Medians; peer: Medians | null }[],
): Figure[] {
  const of = { suite: 'cluster', name: `${name} by MPI, ${worldSize} ranks`, better: 'lower' } as const;
  const times = measured.map(({ ours }) => ours.get(name) ?? NaN);
  const own = figure({ ...of, value: median(times) * perMs, unit, target: null });
  const peers = measured.flatMap(({ peer }) => peer?.get(name) ?? []);
  if (peers.length < measured.length) return [own];
  const ratio = median(times.map((ms, round) => ms / peers[round]));
  const peer = { name: `mpi4py, ${unit}`, value: median(peers) * perMs };
  return [own, { ...figure({ ...of, value: ratio, unit: 'x mpi4py', target: 1 }), peer }];
}

async function measure(command: readonly string[]): Promise<Medians> {
  const printed = await runRank('mpirun', [...mpirun, '-n', String(worldSize), ...command]);
  const lines = printed.trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const { name, durationsMs } = lineSchema.parse(JSON.parse(line));
      return [name, median(durationsMs)];
    }),
  );
}

function findPython(): string | null {
  const candidates = [process.env.TUTTI_BENCH_MPI_PYTHON ?? 'python3'];
  return candidates.find((python) => spawnSync(python, ['-c', 'import mpi4py, numpy']).status === 0) ?? null;
}
