import { setImmediate } from 'node:timers/promises';
import type { Launch, WorkersTask } from '../../core/protocol/run/messages.ts';
import { samplesPerStep } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { WorkersReply } from '../../core/protocol/run/workers.ts';
import { messageOf } from '../../core/text/errors.ts';
import { DistributedSeeder } from '../callbacks/distributed-seeder.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import { updateRuleOf } from '../optimizers/optimizers.ts';
import { settingsAt } from '../optimizers/schedules.ts';
import { buildRun, type BuildSeat, type BuiltRun, createMember, lossOf, ranksOf } from './preparation/prepare.ts';
import { requireStackable, stackedTraining } from '../stacked/common-stacks.ts';
import { layersByMember } from '../stacked/stacked-layers.ts';
import { StackedMembers, type StepInput } from '../stacked/stacked-members.ts';

/** Steps before the first that counts: the engine compiles its code meanwhile. */
const warmUpSteps = 3;
/** A longer step is arithmetic, which takes as long together as one by one. */
const longStepMs = 100;
/** Timed at once, so that the clock's own time does not count. */
const blockMs = 20;

/**
 * Times a step of all members of one device: with each in a stack of its own, one after the other, and with all in one
 * stack. A worker trains single members in the same way, so the bits do not depend on the answer.
 */
export async function measureWorkers(task: WorkersTask): Promise<WorkersReply> {
  const { launch, members, budgetMs } = task;
  const seats = Array.from({ length: members }, (_, rank) => seatOf(launch, rank));
  const built = await buildRun(seats.slice(0, 1));
  const apart = (why: string): WorkersReply => ({ type: 'apart', why });
  const byMember = layersByMember(built.members[0].member.model);
  if (byMember.length > 0) return apart(`some layers run member by member also together: ${byMember.join(', ')}`);
  if (built.shared.data.train.stream !== undefined)
    return apart('its samples come as a stream, which cannot be read twice');
  const alone = await timer(built, seats.slice(0, 1));
  const shortestMs = Math.min(await alone(1), await alone(1), await alone(1));
  if (shortestMs > longStepMs) return apart(`a step of one takes ${Math.round(shortestMs)} ms, nearly all arithmetic`);
  await addMembers(built, seats.slice(1));
  const difference = differenceOf(built, seats);
  if (difference !== null) return apart(`their models differ: ${difference}`);
  const [single, together] = await timeInTurns([alone, await timer(built, seats)], budgetMs);
  const measured = [
    { members: 1, stepMs: members * single },
    { members, stepMs: together },
  ];
  return { type: 'measured', measured };
}

async function addMembers(
  { shared, members, seeders }: BuiltRun<BuildSeat>,
  seats: readonly BuildSeat[],
): Promise<void> {
  const { seed: baseSeed, identicalSeeds } = shared.config;
  for (const seat of seats) {
    const { rank } = seat.launch.placement;
    const seeder = new DistributedSeeder({ baseSeed, rank, unique: !identicalSeeds });
    members.push(await createMember(seat, shared, seeder));
    seeders.push(seeder);
  }
}

/** Why the models of the members cannot be stacked; null if they can. */
function differenceOf({ members }: BuiltRun<BuildSeat>, seats: readonly BuildSeat[]): string | null {
  const models = members.map(({ member }) => member.model);
  try {
    requireStackable(models, ranksOf(seats));
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Makes that many steps of these ranks as one computation. @returns the mean time of a step, in ms */
type Timer = (steps: number) => Promise<number>;

/** A timer of the first members, warmed up. */
async function timer(built: BuiltRun<BuildSeat>, seats: readonly BuildSeat[]): Promise<Timer> {
  const stack = stackOf(built, seats.length);
  const inputs = await inputsOf(built, seats);
  const timeSteps = async (steps: number): Promise<number> => {
    const startMs = computedMs();
    for (let step = 0; step < steps; step += 1) await stack.step(inputs);
    return (computedMs() - startMs) / steps;
  };
  await timeSteps(warmUpSteps);
  return timeSteps;
}

/** The first members as one computation. */
function stackOf({ shared, members, seeders }: BuiltRun<BuildSeat>, count: number): StackedMembers {
  const rule = updateRuleOf(shared.config.optimizer);
  const stackable = members
    .slice(0, count)
    .map(({ member }, i) => ({ member, draw: seeders[i].draw, rule, loss: null }));
  return new StackedMembers(stackable, stackedTraining(shared, lossOf(shared)));
}

/** The first batch for each rank. */
async function inputsOf({ shared }: BuiltRun<BuildSeat>, seats: readonly BuildSeat[]): Promise<StepInput[]> {
  const { config, openBatches, data } = shared;
  const rows = Int32Array.from({ length: Math.min(samplesPerStep(config), data.train.length) }, (_, row) => row);
  const position = { epoch: 0, step: 0, totalSteps: 1 };
  const settings = settingsAt(config.schedule, config.optimizer.learningRate, position);
  const start = { epoch: 0, batch: 0, step: 0 };
  return Promise.all(
    seats.map(
      async ({
        launch: {
          placement: { rank },
        },
      }) => ({
        batch: await openBatches({ seed: config.seed + rank, rank }).batch(rows, start),
        settings,
        position: { ...position, rank },
      }),
    ),
  );
}

/**
 * How long this thread has computed, in ms: its waits for a processor, which other processes cause, do not count.
 * Windows counts it in units of 15.6 ms.
 */
function computedMs(): number {
  if (process.platform === 'win32') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The least time of each, in ms: other processes only add to it. */
async function timeInTurns(timers: readonly Timer[], budgetMs: number): Promise<number[]> {
  const least = timers.map(() => Infinity);
  const endMs = performance.now() + budgetMs;
  do {
    for (const [i, timeSteps] of timers.entries()) {
      const onceMs = await timeSteps(1);
      least[i] = Math.min(least[i], await timeSteps(Math.ceil(blockMs / Math.max(onceMs, 0.01))));
      // Lets the process end where the hub is gone.
      await setImmediate();
    }
  } while (performance.now() < endMs);
  return least;
}

/** A rank whose hub hears nothing. */
function seatOf(launch: Launch, rank: number): BuildSeat {
  const placement = { ...launch.placement, rank };
  const report = { event: () => undefined };
  return { launch: { ...launch, placement }, links: { group: ProcessGroup.alone(rank), report } };
}
