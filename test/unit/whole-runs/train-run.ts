import { runConfigSchema, type RunConfig, type RunConfigInput } from '../../../core/protocol/run/config.ts';
import { samplerOf, samplesPerStep, splitsState } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { BroadcastBatches, ownBatches } from '../../../workers/data/batches.ts';
import { subset } from '../../../workers/data/dataset.ts';
import { createSampler, type Sampler } from '../../../workers/data/samplers.ts';
import { MemberStack } from '../../../workers/stacked/member-stack.ts';
import { stackedTraining } from '../../../workers/stacked/common-stacks.ts';
import { createStrategy } from '../../../workers/strategies/index.ts';
import type { Strategy } from '../../../workers/strategies/strategy.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { settingsAt } from '../../../workers/optimizers/schedules.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';
import { tf, type Variable } from '../../../workers/tensorflow/tf.ts';
import { createNetwork, heldLoss, lossOf, taskFor, weightsOf } from './networks.ts';
import { ofRank, type Family, type RecordedRun } from './recorded-runs.ts';

/** A way to train that must give the recorded results. */
export interface Form {
  name: string;
  change?: RunConfigInput;
  isStacked?: boolean;
}

/** The results of a rank's training. */
export interface TrainedRun {
  losses: number[];
  /** After the given number of steps. */
  weights: Map<number, number[]>;
  /** What would be evaluated and saved at the end; null where the run ended early. */
  assembled: number[] | null;
}

/** The forms of a family that suit a run. */
export function formsOf(family: Family, { config: { strategy, sampler, ema } }: RecordedRun): Form[] {
  switch (family) {
    case 'independent': {
      const forms: Form[] = [{ name: 'each by itself' }, { name: 'as one computation', isStacked: true }];
      const isCommon = sampler === 'shared';
      return isCommon ? [...forms, { name: 'from broadcast batches', change: { data: { mode: 'broadcast' } } }] : forms;
    }
    case 'joint':
      return strategy?.kind === 'joint' && strategy.mode === 'pipelined'
        ? [{ name: 'pipelined' }]
        : (['reduce', 'gather', 'tree'] as const).map((mode) => ({
            name: mode,
            change: { strategy: { kind: 'joint', mode } },
          }));
    case 'data-parallel': {
      if (strategy?.kind !== 'data-parallel')
        throw new Error(`A data-parallel run has the strategy ${strategy?.kind}.`);
      // The later stages exchange accumulated parts one by one, and so would round each.
      const isPartsRounded = strategy.compression !== 'none' && strategy.accumulate !== 1;
      return [
        { name: 'data-parallel' },
        { name: 'sharded', change: { strategy: { ...strategy, kind: 'sharded' } } },
        ...(isPartsRounded ? [] : layeredForms(strategy, (ema?.decay ?? 0) > 0)),
      ];
    }
    default:
      return [{ name: family }];
  }
}

type DataParallelConfig = Extract<NonNullable<RunConfigInput['strategy']>, { kind: 'data-parallel' }>;

/** @param isAveraged averages of the weights need whole weights */
function layeredForms(strategy: DataParallelConfig, isAveraged: boolean): Form[] {
  const sharded = { ...strategy, kind: 'sharded' } as const;
  const gradients = { name: 'and its gradients', change: { strategy: { ...sharded, stage: 2, bucketBytes: 64 } } };
  const weights = { name: 'and its weights', change: { strategy: { ...sharded, stage: 3 } } };
  return isAveraged ? [gradients] : [gradients, weights];
}

interface Rank {
  group: ProcessGroup;
  member: Member;
  strategy: Strategy;
  sampler: Sampler;
}

/** Trains all ranks of a recorded run in this process, like their workers, up to its last step or for `mostSteps`. */
export async function trainRun(
  run: RecordedRun,
  { change, isStacked = false }: Form,
  mostSteps = Infinity,
): Promise<TrainedRun[]> {
  const config = runConfigSchema.parse({ ...run.config, ...change });
  const ranks = await createRanks(run, config, isStacked);
  return await Promise.all(ranks.map((rank) => trainRank(run, config, rank, mostSteps)));
}

async function createRanks(run: RecordedRun, config: RunConfig, isStacked: boolean): Promise<Rank[]> {
  const { members, optimizer, strategy: strategyConfig, maxSteps, seed } = config;
  const task = taskFor(run.network);
  const project = run.network === 'heads' ? { loss: heldLoss(run) } : {};
  const stack = new MemberStack(stackedTraining({ config, project, task }, lossOf(run)));
  const groups = members === 1 ? [ProcessGroup.alone(0)] : createInMemoryGroup(ranksOf(members)).groups;
  const context = { config, task, totalSteps: maxSteps, unlabelled: run.unlabelled };
  const ranks = groups.map((group): Rank => {
    const { rank } = group;
    const model = createNetwork(run.network, run.initial[rank]);
    const optimizerOf = (variables: Variable[]) =>
      createOptimizer(optimizer, splitsState(strategyConfig) ? [] : variables);
    const member = new Member(model, lossOf(run), optimizerOf, { ...optimizer, averageDecay: config.ema.decay });
    const strategy = isStacked ? stack.join((body) => body()) : createStrategy(strategyConfig, context);
    const sampler = createSampler({
      kind: samplerOf(config),
      length: run.data.length,
      batchSize: samplesPerStep(config),
      dropLast: false,
      seed: seed + rank,
      sharedSeed: seed,
      rank,
      worldSize: members,
    });
    return { group, member, strategy, sampler };
  });
  await Promise.all(ranks.map(({ member, strategy, group }) => strategy.setup(member, group, null)));
  return ranks;
}

async function trainRank(run: RecordedRun, config: RunConfig, rank: Rank, mostSteps: number): Promise<TrainedRun> {
  const { group, member, strategy, sampler } = rank;
  const { maxSteps: totalSteps, schedule, optimizer } = config;
  const batches = config.data.mode === 'broadcast' ? broadcastBatches(run, group) : ownBatches(run.data);
  const trained: TrainedRun = { losses: [], weights: new Map(), assembled: null };
  const lastStep = Math.min(totalSteps, mostSteps);
  const note = (outcome: Awaited<ReturnType<Strategy['trainStep']>>): void => {
    if (outcome !== null) trained.losses.push(outcome.loss);
  };
  let epochBatches: Int32Array[] = [];
  for (let step = 0; step < lastStep; step++) {
    const epoch = Math.floor(step / sampler.batchesPerEpoch);
    const batch = step % sampler.batchesPerEpoch;
    if (batch === 0) epochBatches = [...sampler.batches(epoch)];
    const position = { epoch, step, totalSteps };
    const settings = settingsAt(schedule, optimizer.learningRate, position);
    note(await strategy.trainStep(member, await batches.batch(epochBatches[batch]), settings, position));
    // Ranks meet at the end of every epoch. Only then does a stack copy its members' weights into their models.
    const isRecorded = run.weights.has(step + 1);
    const isStacked = 'leave' in strategy;
    const meets = batch + 1 === sampler.batchesPerEpoch || step + 1 === totalSteps;
    if (meets || (isStacked && isRecorded)) note((await strategy.settle?.()) ?? null);
    if (!isRecorded) continue;
    const release = strategy.keepsWeights === true ? await gatherWeights(rank) : null;
    trained.weights.set(step + 1, weightsOf(member.model, run.network));
    release?.();
  }
  if (lastStep < totalSteps) return trained;
  strategy.collect?.();
  member.average?.exchange();
  await strategy.assemble?.();
  trained.assembled = weightsOf(member.model, run.network);
  return trained;
}

/** The trained weights of all ranks' shards, with the rank's own running statistics. */
async function gatherWeights({ strategy, member }: Rank): Promise<(() => void) | null> {
  const statistics = member.model.nonTrainableWeights.map((weight) => weight.read() as Variable);
  const own = statistics.map((statistic) => statistic.dataSync().slice());
  const release = (await strategy.assemble?.()) ?? null;
  statistics.forEach((statistic, i) => tf.tidy(() => statistic.assign(tf.tensor(own[i], statistic.shape))));
  return release;
}

/** The first rank has all samples, and the others one that defines their shape. */
function broadcastBatches({ data }: RecordedRun, group: ProcessGroup): BroadcastBatches {
  return new BroadcastBatches(group, group.rank === 0 ? data : subset(data, Int32Array.of(0)), data.length);
}

/** The largest distances of a training from the recorded values. */
export interface RunError {
  loss: number;
  weight: number;
}

/** Of the steps that were trained. @throws if the number of a rank's losses or weights differs from the recorded one */
export function errorOf(run: RecordedRun, trained: readonly TrainedRun[]): RunError {
  const isWhole = trained.every(({ assembled }) => assembled !== null);
  const losses = trained.map(({ losses }, rank) => {
    const recorded = ofRank(run.losses, rank);
    return largestDistance(losses, isWhole ? recorded : recorded.slice(0, losses.length));
  });
  const weights = trained.flatMap(({ weights }, rank) =>
    [...run.weights]
      .filter(([step]) => isWhole || weights.has(step))
      .map(([step, ranks]) => largestDistance(weights.get(step) ?? [], ofRank(ranks, rank))),
  );
  const assembled = trained.map((own, rank) =>
    run.assembled === null || own.assembled === null ? 0 : largestDistance(own.assembled, ofRank(run.assembled, rank)),
  );
  return { loss: Math.max(...losses), weight: Math.max(...weights, ...assembled) };
}

export function largestDistance(actual: readonly number[], expected: readonly number[]): number {
  if (actual.length !== expected.length) {
    throw new Error(`There are ${actual.length} values where ${expected.length} are recorded.`);
  }
  return Math.max(...actual.map((value, i) => Math.abs(value - expected[i])));
}
