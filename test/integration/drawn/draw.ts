import fc from 'fast-check';
import { type TaskKind, taskKinds } from '../../../core/metrics/registry/metric.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { strategyKinds, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { DrawnData } from '../projects/drawn/drawn-project.ts';
import { type DrawnTable, drawnNames, drawnTable } from './draw-table.ts';

/** A run whose answers are asked for in every way. */
export interface DrawnCase {
  task: TaskKind;
  hasOutputs: boolean;
  data: Partial<DrawnData>;
  /** Of the data kind `table`. */
  table: DrawnTable | null;
  config: RunConfigInput;
  /** Whether something is fitted on its validation split before it answers. */
  isCalibrated: boolean;
}

type Strategy = NonNullable<RunConfigInput['strategy']>;

const tasksOfKind: Record<DrawnData['kind'], readonly TaskKind[]> = {
  values: taskKinds,
  tokens: taskKinds,
  // The form of images in memory, which the matrix of options trains.
  pixels: taskKinds,
  steps: ['classification', 'binary', 'regression', 'heteroscedastic-regression', 'poisson-regression'],
  table: taskKinds.filter((task) => task !== 'multi-label'),
  images: ['classification', 'binary', 'ordinal'],
};

const shared = fc.record({
  accumulate: fc.constantFrom(1, 2),
  compression: fc.constantFrom('none' as const, 'bfloat16' as const),
});

const strategies: Readonly<Record<Strategy['kind'], fc.Arbitrary<Strategy>>> = {
  independent: fc.constant({ kind: 'independent' }),
  joint: fc.record({ kind: fc.constant('joint'), mode: fc.constantFrom('reduce', 'gather', 'tree', 'pipelined') }),
  coupled: fc.constant({ kind: 'coupled', unlabelledBatchSize: 4 }),
  'data-parallel': shared.map((own) => ({ kind: 'data-parallel', ...own })),
  sharded: fc.tuple(shared, fc.constantFrom(1, 2, 3)).map(([own, stage]) => ({ kind: 'sharded', ...own, stage })),
  hdet: fc.constantFrom(0, 0.3).map((spread) => ({ kind: 'hdet', spread, decay: 0, averageEverySteps: 1 })),
  pipeline: fc.record({
    kind: fc.constant('pipeline'),
    schedule: fc.constantFrom('1f1b', 'gpipe'),
    microBatches: fc.constantFrom(1, 2, 4),
  }),
};

/** Each strategy that suits. What else they take is refused, which other tests assert. */
function suitableStrategy(task: TaskKind, isPlain: boolean, hasCuts: boolean): fc.Arbitrary<Strategy> {
  const suitable = strategyKinds.filter((kind) => {
    const { tasks, exchangesOutputs, splits } = strategyRules[kind];
    return (tasks?.includes(task) ?? true) && (isPlain || !exchangesOutputs) && (hasCuts || splits !== 'layers');
  });
  // Products of experts as often as two others: how members combine differs here.
  const weight = (kind: Strategy['kind']): number => (strategyRules[kind].isProduct ? 2 : 1);
  return fc.oneof(...suitable.map((kind) => ({ arbitrary: strategies[kind], weight: weight(kind) })));
}

/** Options that change weights, samples or what is kept, and leave answers and scores what they are. */
const others = fc.record({
  seed: fc.nat(99),
  ema: fc.constantFrom({ decay: 0 }, { decay: 0.5 }),
  optimizer: fc.constantFrom(
    { kind: 'adam' as const, learningRate: 0.05 },
    { kind: 'sgd' as const, learningRate: 0.05, momentum: 0.9 },
    { kind: 'lamb' as const, learningRate: 0.05 },
  ),
  dropLast: fc.boolean(),
  activationCheckpointing: fc.constantFrom('none' as const, 'layers' as const),
});

const rarely = fc.integer({ min: 0, max: 3 }).map((drawn) => drawn === 0);

const oneData = fc.record({
  kind: fc.constantFrom<DrawnData['kind']>('values', 'table', 'table', 'steps', 'tokens', 'images'),
  hasOutputs: rarely,
  // Strategies that exchange logits take none of these.
  hasWeights: rarely,
  hasMask: rarely,
  hasContext: fc.boolean(),
  isContextFirst: fc.boolean(),
  columns: fc.constantFrom(1, 2),
  scale: fc.constantFrom({ offset: 0, unit: 1 }, { offset: -3, unit: 20 }, { offset: 1e8, unit: 10 }),
  standardize: fc.boolean(),
  hasTest: fc.boolean(),
  classNames: drawnNames,
});

const usesValues = (task: TaskKind): boolean => task === 'regression' || task === 'heteroscedastic-regression';

/** Runs of all tasks, forms of data and strategies. */
export const drawnCase: fc.Arbitrary<DrawnCase> = oneData.chain((drawn) => {
  const { kind, hasTest, columns, scale, classNames, standardize } = drawn;
  return fc.constantFrom(...tasksOfKind[kind]).chain((task) => {
    const isInMemory = kind === 'values' || kind === 'tokens' || kind === 'steps';
    const hasMask = drawn.hasMask && isInMemory && task !== 'quantile-regression';
    const hasOutputs =
      drawn.hasOutputs &&
      (kind === 'values' || kind === 'tokens') &&
      !hasMask &&
      ['classification', 'regression'].includes(task);
    const hasWeights = drawn.hasWeights && isInMemory;
    const isPlain = !hasMask && !hasOutputs && !hasWeights && kind !== 'steps';
    // Values far from zero cannot be learned as they are.
    const hasScale = usesValues(task) && (kind === 'values' || kind === 'table');
    const standardizeTargets = hasScale && (standardize || scale.offset !== 0);
    const data: Partial<DrawnData> = {
      kind,
      classNames: task === 'binary' ? classNames.slice(0, 2) : classNames,
      samples: 36,
      columns: task === 'quantile-regression' ? 1 : columns,
      ...(hasScale ? scale : {}),
      hasWeights,
      hasMask,
      hasContext: drawn.hasContext && (kind === 'values' || kind === 'tokens'),
      isContextFirst: drawn.isContextFirst,
      standardize: (kind === 'values' && standardize) || standardizeTargets,
      standardizeTargets,
      validation: 12,
      test: hasTest ? 6 : 0,
    };
    const parts = {
      table: drawnTable,
      // No model is cut after a layer that makes masks.
      strategy: suitableStrategy(task, isPlain, kind !== 'steps'),
      others,
      isStacked: fc.boolean(),
      isCalibrated: fc.integer({ min: 0, max: 4 }),
    };
    return fc.record(parts).map(({ table, strategy, others: own, isStacked, isCalibrated }) => ({
      task,
      hasOutputs,
      data,
      table:
        kind === 'table' ? { ...table, hasWeights: table.hasWeights && !strategyRules[strategy.kind].isProduct } : null,
      config: configOf(strategy, own, isStacked),
      isCalibrated: isCalibrated === 0 && !hasOutputs,
    }));
  });
});

type Others = typeof others extends fc.Arbitrary<infer Own> ? Own : never;

function configOf(strategy: Strategy, own: Others, isStacked: boolean): RunConfigInput {
  const isStage = strategy.kind === 'sharded' && (strategy.stage ?? 1) > 1;
  const membersPerDevice = strategy.kind === 'independent' && isStacked ? 2 : 1;
  return {
    ...own,
    strategy,
    members: 2,
    membersPerDevice,
    ema: strategy.kind === 'sharded' && strategy.stage === 3 ? { decay: 0 } : own.ema,
    activationCheckpointing: isStage || membersPerDevice > 1 ? 'none' : own.activationCheckpointing,
  };
}
