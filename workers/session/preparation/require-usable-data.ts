import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { holdsOut } from '../../../core/protocol/run/data-config.ts';
import { samplerOf, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { Dataset, Splits } from '../../data/dataset.ts';
import type { Task } from '../../member/tasks.ts';
import { callsOf, type Layer, nestedModel } from '../../exchange/model-calls.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';

/**
 * @throws where the strategy's loss would leave out the data's weights or masks, or takes no samples of several
 * positions
 */
export function requireUsableTargets(config: RunConfig, task: Task, train: Dataset): void {
  if (task.further !== undefined) requireFurtherOutputs(config, train);
  const { kind } = config.strategy;
  if (!strategyRules[kind].isProduct) return;
  if (task.positionAxes !== undefined) {
    throw new Error(
      `${train.name} has targets of shape [${train.targetShape?.join(', ')}] for each sample: the strategy ${kind} ` +
        'trains a product of experts of one prediction per sample. Choose another strategy.',
    );
  }
  const { weights = train.lossWeights } = train;
  if (weights === undefined && train.mask === undefined) return;
  throw new Error(
    `${train.name} has ${weights === undefined ? 'a mask' : 'weights'}, which the loss of the strategy ${kind} ` +
      'cannot use. Remove them, or choose another strategy.',
  );
}

/** @throws where further outputs of a model would be left out */
function requireFurtherOutputs({ strategy, data }: RunConfig, { name, mask }: Dataset): void {
  const obstacle = strategyRules[strategy.kind].exchangesOutputs
    ? `the strategy ${strategy.kind}, whose members exchange one output`
    : holdsOut(data)
      ? 'samples that ranks hold out'
      : mask === undefined
        ? null
        : `the mask of ${name}, which is that of the task's own targets`;
  if (obstacle === null) return;
  throw new Error(`The project's further outputs do not work with ${obstacle}. Remove the one or the other.`);
}

/**
 * Checks that samples may be mixed, where `augmentation` asks for it: the mean of two ids of tokens is another token.
 * @throws Error that names the input and, where that says that it holds ids, the layer
 */
export function requireMixable(
  { augmentation: { mixup, cutmix } }: RunConfig,
  model: LayersModel,
  train: Dataset,
): void {
  if (mixup === 0 && cutmix === 0) return;
  const { name, tokenizer, extraInputs = {} } = train;
  const options = [mixup > 0 ? '--augmentation.mixup' : '', cutmix > 0 ? '--augmentation.cutmix' : ''].filter(Boolean);
  const refuse = (what: string): never => {
    throw new Error(
      `${options.join(' and ')} ${options.length > 1 ? 'mix' : 'mixes'} the inputs of samples, but ${what}. ` +
        'Turn off what mixes, or give the model values that can be weighed.',
    );
  };
  if (tokenizer !== undefined)
    refuse(`the features of "${name}" are ids of tokens, and the mean of two ids is another token`);
  for (const [input, { values }] of Object.entries(extraInputs)) {
    if (!(values instanceof Float32Array))
      refuse(`the input "${input}" of "${name}" holds whole numbers (${values.constructor.name})`);
  }
  for (const [i, reader] of readersOfIds(model).entries()) {
    if (reader === null) continue;
    const input = model.inputs.length === 1 ? 'the features' : `the input "${model.inputNames[i]}"`;
    refuse(
      `the layer "${reader.name}" (${reader.getClassName()}) reads ${input} of "${name}" as ids, and the mean ` +
        'of two ids is another one',
    );
  }
}

/** For each input of a model, a layer that reads it as ids, whatever lies between; else null. */
function readersOfIds(model: LayersModel): (Layer | null)[] {
  const readers = new Map<string, Layer>();
  for (const { layer, inputs, outputs } of callsOf(model).toReversed()) {
    const own = readersIn(layer);
    const later = outputs.map((output) => readers.get(output.name)).find((reader) => reader !== undefined);
    inputs.forEach(({ name }, i) => {
      const reader = own[i] ?? later;
      if (reader !== undefined) readers.set(name, reader);
    });
  }
  return model.inputs.map(({ name }) => readers.get(name) ?? null);
}

function readersIn(layer: Layer): readonly (Layer | null)[] {
  const { layer: wrapped } = layer as unknown as { layer?: Layer };
  const nested = nestedModel(layer);
  if (nested !== null) return readersOfIds(nested);
  if (wrapped !== undefined) return readersIn(wrapped);
  return ['Embedding', 'CategoryEncoding'].includes(layer.getClassName()) ? [layer] : [];
}

/** Samplers that need no access to single samples. */
const samplersOfStreams = ['shuffled', 'shared', 'sequential'];

/** @throws Error where a run needs what a stream does not have: access to single samples */
export function requireStreamable(config: RunConfig, { train, validation, test, unlabelled }: Splits): void {
  const other = [validation, test, unlabelled].find((split) => split?.stream !== undefined);
  if (other !== undefined) {
    throw new Error(
      `"${other.name}" is a stream, which only the training split can be. Give samples in memory, or on disk ` +
        '(createSourceDataset).',
    );
  }
  if (train.stream === undefined) return;
  const reasons: [boolean, string][] = [
    [
      strategyRules[config.strategy.kind].isOneModel,
      `the strategy ${config.strategy.kind}, whose ranks train one model`,
    ],
    [!samplersOfStreams.includes(samplerOf(config)), `--sampler ${samplerOf(config)}`],
    [config.data.mode === 'broadcast', '--data.mode broadcast'],
    [config.data.bagging, '--data.bagging'],
    [holdsOut(config.data), 'samples that ranks hold out (--data.hold-out, --data.fold-per-rank)'],
  ];
  const reason = reasons.find(([applies]) => applies)?.[1];
  if (reason === undefined) return;
  throw new Error(
    `"${train.name}" is a stream, which has no access to single samples, as ${reason} needs it. Use samples with ` +
      'random access (createSourceDataset, arrayShards), or leave that option out.',
  );
}
