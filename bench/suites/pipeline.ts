import { type Training, trainDeep } from '../deep/train.ts';
import { type Figure, figure, type Suite } from '../figures.ts';
import { measureThroughput } from '../strategies/pipeline-throughput.ts';

const spread = ['--members', '4', '--devices', 'cpu:0,1', '--strategy', 'pipeline', '--strategy.micro-batches', '16'];
const alone = ['--members', '1', '--devices', 'cpu:0'];
const checkpointing = ['--activation-checkpointing', 'sqrt'];

/**
 * Memory of training a deep network of 48 equal layers in one process, and in four that each hold a part of the layers;
 * and samples per second of a smaller one.
 */
export const suite: Suite = {
  name: 'pipeline',
  async run(note) {
    const measure = async (what: string, args: readonly string[]): Promise<Training> => {
      note(what);
      return await trainDeep(args);
    };
    note('a warm-up, which fills the cache of compiled code');
    await trainDeep([...alone, '--layers', '2', '--max-steps', '1']);
    const one = await measure('one process', alone);
    const recomputed = await measure('one process, activations computed again', [...alone, ...checkpointing]);
    const four = await measure('four stages', spread);
    const both = await measure('four stages, activations computed again', [...spread, ...checkpointing]);
    const share = (name: string, of: Training, target: number | null): Figure[] => [
      figureOf(`${name}, largest heap of the backend over one process`, of.heapBytes / one.heapBytes, 'x', target),
      figureOf(`${name}, largest resident memory over one process`, of.residentBytes / one.residentBytes, 'x', null),
    ];
    return [
      figureOf('one process, heap of the backend', one.heapBytes / 2 ** 20, 'MiB', null),
      figureOf('one process, resident memory', one.residentBytes / 2 ** 20, 'MiB', null),
      ...share('one process with activation checkpointing', recomputed, null),
      ...share('4 stages on two cores', four, 0.4),
      ...share('4 stages with activation checkpointing', both, 0.25),
      ...(await measureThroughput(note)),
    ];
  },
};

function figureOf(name: string, value: number, unit: string, target: number | null): Figure {
  return figure({ suite: 'pipeline', name, value, unit, better: 'lower', target });
}
