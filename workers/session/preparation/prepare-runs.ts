import { Generator, installAsMathRandom } from '../../random/index.ts';
import { commonStacks, type StackOfRun } from '../../stacked/common-stacks.ts';
import { requireStackable } from '../../stacked/model-graph.ts';
import { Throttle } from '../../training/throttle.ts';
import { type BuiltRun, buildRun, lossOf, type Prepared, prepareRank, ranksOf, type Seat } from './prepare.ts';

/**
 * Prepares all ranks of this process: project, backend, seeds, data, models, trainers. A run that cannot be prepared leaves the others as they are.
 * @param runs the ranks of each run
 */
export async function prepareRuns(runs: readonly (readonly Seat[])[]): Promise<PromiseSettledResult<Prepared[]>[]> {
  const built: PromiseSettledResult<BuiltRun>[] = [];
  // One after the other: data() and model() draw from the only Math.random of the process.
  for (const seats of runs) built.push(...(await Promise.allSettled([build(seats, runs[0][0])])));
  const stacked = built.flatMap((run) => (run.status === 'fulfilled' && isStacked(run.value) ? [run.value] : []));
  const ofRuns = commonStacks(stacked.map(stackableOf));
  const stacks = new Map(stacked.map((run, i) => [run, ofRuns[i]]));
  // Draws that belong to no rank must not move the stream of a rank of another run.
  if (runs.length > 1) installAsMathRandom(new Generator(0, 'no rank'));
  const throttle = new Throttle();
  return Promise.allSettled(
    built.map((run) => {
      if (run.status === 'rejected') return Promise.reject(run.reason as Error);
      return prepareMembers(run.value, stacks.get(run.value) ?? null, throttle);
    }),
  );
}

async function build(seats: readonly Seat[], first: Seat): Promise<BuiltRun> {
  requireSameBackend(first, seats[0]);
  const built = await buildRun(seats);
  const models = built.members.map(({ member }) => member.model);
  if (isStacked(built)) requireStackable(models, ranksOf(seats));
  return built;
}

/** A process has one backend. @throws Error for a run that computes with other options than the first one */
function requireSameBackend(first: Seat, other: Seat): void {
  const [expected, own] = [first, other].map(({ launch: { config, blas } }) =>
    JSON.stringify({ backend: config.backend, determinism: config.determinism, blas }),
  );
  if (own === expected) return;
  throw new Error(
    `This run computes with ${own}, and another one in its process with ${expected}: a process has one backend. Do not search ` +
      'these options, or use --trials-per-worker 1.',
  );
}

/** A rank with a stack in its placement is computed in one also if it is alone, because bits differ otherwise. */
function isStacked({ seats, members }: BuiltRun): boolean {
  return members.length > 1 || seats[0].launch.placement.stack !== undefined;
}

function stackableOf({ shared, members }: BuiltRun) {
  const { config, project, task, data } = shared;
  return {
    config,
    project,
    task,
    loss: lossOf(shared),
    members: members.map(({ member }) => member),
    samples: data.train.length,
  };
}

/** If one of a run's ranks cannot be prepared, all leave their stack: others would wait for them. */
async function prepareMembers(built: BuiltRun, of: StackOfRun | null, throttle: Throttle): Promise<Prepared[]> {
  const { seats, shared, members, seeders } = built;
  const places = seeders.map(({ draw }) => of?.stack.join(draw, of.run) ?? null);
  try {
    return await Promise.all(
      seats.map((seat, i) =>
        prepareRank(seat, shared, { ...members[i], seeder: seeders[i], place: places[i], throttle }),
      ),
    );
  } catch (error) {
    for (const place of places) place?.leave();
    throw error;
  }
}
