import type { OptimizerConfig } from '../../../core/protocol/run/config.ts';
import { optimizerSchema } from '../../../core/protocol/run/optimizer-config.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { Generator, installAsMathRandom } from '../../../workers/random/index.ts';
import { MemberStack, type StackedStrategy } from '../../../workers/stacked/member-stack.ts';
import { independentStrategy } from '../../../workers/strategies/independent.ts';
import type { StepOutcome, Strategy } from '../../../workers/strategies/strategy.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import type { LayersModel } from '../../../workers/tensorflow/tf.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer, updateRuleOf } from '../../../workers/optimizers/optimizers.ts';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { taskOf } from '../../../workers/member/tasks.ts';

/** The parts of a member. */
export interface Recipe {
  create: () => LayersModel;
  task?: TaskKind;
  optimizer?: Partial<OptimizerConfig> & { kind: OptimizerConfig['kind'] };
  sharesBatches?: boolean;
  averageDecay?: number;
  members?: number;
}

export interface TestMember {
  member: Member;
  strategy: Strategy & Partial<Pick<StackedStrategy, 'leave'>>;
  draw: <T>(body: () => T) => T;
}

/** Members computed separately or as one stack. In both cases, seed m determines member m's weights and dropout. */
export async function createMembers(recipe: Recipe, isStacked: boolean): Promise<TestMember[]> {
  const { create, task: kind = 'classification', members: count = 3, sharesBatches = false } = recipe;
  const task = taskOf(kind);
  const optimizer = optimizerSchema.parse(recipe.optimizer ?? { kind: 'adam', learningRate: 0.01 });
  const stack = new MemberStack({
    rule: updateRuleOf(optimizer),
    sharesBatches,
    losses: (outputs, targets) => task.loss(outputs, targets),
  });
  const members = Array.from({ length: count }, (_, seed): TestMember => {
    const generator = new Generator(seed, 'member');
    const draw = <T>(body: () => T): T => {
      const restore = installAsMathRandom(generator);
      try {
        return body();
      } finally {
        restore();
      }
    };
    const member = new Member(
      draw(create),
      (outputs, targets) => task.loss(outputs, targets),
      (variables) => createOptimizer(optimizer, variables),
      { clipNorm: 0, clipValue: 0, groups: [], averageDecay: recipe.averageDecay ?? 0 },
    );
    return { member, draw, strategy: isStacked ? stack.join(draw) : independentStrategy() };
  });
  for (const { member, strategy } of members) await strategy.setup(member, ProcessGroup.alone(0), null);
  return members;
}

/** Trains members side by side from one step to another. `batchOf` returns a member's batch of a step. */
export async function train(
  members: readonly TestMember[],
  batchOf: (member: number, step: number) => Batch,
  { from = 0, to, learningRate = 0.01 }: { from?: number; to: number; learningRate?: number },
): Promise<StepOutcome[][]> {
  const outcomes = members.map((): StepOutcome[] => []);
  for (let step = from; step < to; step++) {
    const position = { epoch: 0, step, totalSteps: to };
    const steps = members.map(({ member, strategy, draw }, m) => {
      const makeStep = () => strategy.trainStep(member, batchOf(m, step), { learningRate }, position);
      // A separate member draws from its stream before its first await. Stacked members switch streams themselves.
      return strategy.leave === undefined ? draw(makeStep) : makeStep();
    });
    (await Promise.all(steps)).forEach((outcome, m) => outcome !== null && outcomes[m].push(outcome));
  }
  for (const { strategy } of members) await strategy.settle?.();
  return outcomes;
}

/** Random features `[B, ...shape]` with labels among three classes that depend on them. */
export function batch(seed: number, shape: number[], size = 8): Batch {
  const generator = new Generator(seed, 'samples');
  const width = shape.reduce((product, axis) => product * axis, 1);
  const features = Float32Array.from({ length: size * width }, () => generator.normal());
  const targets = Int32Array.from(
    { length: size },
    (_, i) => (features[i * width] > 0 ? 1 : 0) + (i % 4 === 0 ? 1 : 0),
  );
  return { features, featureShape: [size, ...shape], targets, targetShape: [size] };
}

/** All weights of a member, trainable or not, concatenated. */
export function weightsOf({ member }: TestMember): number[] {
  return member.model.getWeights().flatMap((weight) => [...weight.dataSync()]);
}

/** All optimizer state, concatenated. */
export function slotsOf({ member }: TestMember): number[] {
  return [...member.optimizer.slots.values()].flatMap((slot) => [...slot.dataSync()]);
}

export function largestDifference(first: readonly number[], second: readonly number[]): number {
  return Math.max(...first.map((value, i) => Math.abs(value - second[i])));
}
