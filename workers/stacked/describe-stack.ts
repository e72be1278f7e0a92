import type { StrategyEvent } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { stackingOf } from './stacked-layers.ts';

/** Tells the user how many members are one computation, and which layers gain nothing from it. */
export function describeStack(model: LayersModel, members: number): StrategyEvent {
  const byMember = model.layers
    .filter((layer) => layer.getClassName() !== 'InputLayer' && stackingOf(layer) === 'by-member')
    .map(({ name }) => name);
  const exception = byMember.length === 0 ? '' : ` Member by member run: ${byMember.join(', ')}.`;
  return {
    kind: 'stacked',
    message: `${members} members of a worker are trained as one computation.${exception}`,
    data: { members, byMember },
    points: new Map(),
  };
}
