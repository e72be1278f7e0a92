import { type Training, trainDeep } from '../deep/train.ts';
import { type Figure, figure, type Suite } from '../figures.ts';

/** 11 layers of 2048 x 2048: 46 million weights, 176 MiB, beside which activations of 16 samples are small. */
const network = ['--layers', '11', '--units', '2048', '--batch-size', '16', '--samples', '512', '--max-steps', '6'];

const packed = ['--strategy.weight-precision', 'bfloat16', '--optimizer.state-precision', 'bfloat16'];
const ways: Record<string, readonly string[]> = {
  'data-parallel': ['--strategy', 'data-parallel'],
  'stage 1': stage(1),
  'stage 2': stage(2),
  'stage 3': stage(3),
  'stage 3, weights and state as bfloat16': [...stage(3), ...packed],
  'stage 3, state in a file': [...stage(3), '--strategy.offload', 'optimizer'],
};

function stage(number: number): string[] {
  return ['--strategy', 'sharded', '--strategy.stage', String(number)];
}

/** Memory and time of training one model on 2 and on 4 ranks with each way of splitting what belongs to its weights. */
export const suite: Suite = {
  name: 'sharded',
  async run(note) {
    note('a warm-up, which fills the cache of compiled code');
    await trainDeep(['--members', '1', '--devices', 'cpu:0', '--layers', '2', '--max-steps', '1']);
    const figures: Figure[] = [];
    for (const ranks of ['2', '4']) {
      const measured = new Map<string, Training>();
      for (const [way, args] of Object.entries(ways)) {
        note(`${ranks} ranks, ${way}`);
        measured.set(way, await trainDeep(['--members', ranks, '--devices', 'cpu:0,1', ...network, ...args]));
      }
      figures.push(...figuresOf(ranks, measured));
    }
    return figures;
  },
};

function figuresOf(ranks: string, measured: ReadonlyMap<string, Training>): Figure[] {
  const whole = measured.get('data-parallel');
  if (whole === undefined) throw new Error('Data-parallel training was not measured.');
  return [...measured].flatMap(([way, { heapBytes, peakBytes, stepMs }]) => {
    const name = `${ranks} ranks, ${way}`;
    return [
      lower(`${name}: heap of a rank's backend`, heapBytes / 2 ** 20, 'MiB'),
      ...(way === 'data-parallel' ? [] : [lower(`${name}: that over data-parallel`, heapBytes / whole.heapBytes, 'x')]),
      lower(`${name}: largest resident memory of a rank`, peakBytes / 2 ** 20, 'MiB'),
      lower(`${name}: step`, stepMs, 'ms'),
    ];
  });
}

function lower(name: string, value: number, unit: string): Figure {
  return figure({ suite: 'sharded', name, value, unit, better: 'lower', target: null });
}
