import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { holdsOut } from '../../../core/protocol/run/training-data/data-config.ts';
import type { Dataset } from '../../data/dataset.ts';
import type { Task } from '../../member/tasks.ts';

/** @throws where the strategy's loss would leave out the data's weights or masks, or takes no samples of several positions */
export function requireUsableTargets(config: RunConfig, task: Task, train: Dataset): void {
  if (task.further !== undefined) requireFurtherOutputs(config, train);
  if (config.strategy.kind !== 'joint') return;
  if (task.positionAxes !== undefined) {
    throw new Error(
      `${train.name} has targets of shape [${train.targetShape?.join(', ')}] for each sample: the strategy joint trains a product of experts ` +
        'of one prediction per sample. Choose another strategy.',
    );
  }
  const { weights = train.lossWeights } = train;
  if (weights === undefined && train.mask === undefined) return;
  throw new Error(
    `${train.name} has ${weights === undefined ? 'a mask' : 'weights'}, which the loss of the strategy joint cannot use. ` +
      'Remove them, or choose another strategy.',
  );
}

/** @throws where further outputs of a model would be left out */
function requireFurtherOutputs({ strategy, data }: RunConfig, { name, mask }: Dataset): void {
  const obstacle =
    strategy.kind === 'joint' || strategy.kind === 'coupled'
      ? `the strategy ${strategy.kind}, whose members exchange one output`
      : holdsOut(data)
        ? 'samples that ranks hold out'
        : mask === undefined
          ? null
          : `the mask of ${name}, which is that of the task's own targets`;
  if (obstacle === null) return;
  throw new Error(`The project's further outputs do not work with ${obstacle}. Remove the one or the other.`);
}
