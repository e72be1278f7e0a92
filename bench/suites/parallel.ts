import { join } from 'node:path';
import { runTrainCommand } from '../command.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'blobs');
const pairs = 3;
/** So many that starting up, which is not faster with more cores, is a small part of the command. */
const epochs = ['--max-epochs', '20'];

/** Two members at the same time on two cores, against one after the other on one core: whole commands, in fair pairs. */
export const suite: Suite = {
  name: 'parallel',
  async run(note) {
    await runTrainCommand([project, '--max-epochs', '1']);
    const parallelMs: number[] = [];
    const sequentialMs: number[] = [];
    for (let pair = 1; pair <= pairs; pair++) {
      note(`pair ${pair} of ${pairs}`);
      parallelMs.push((await runTrainCommand([project, ...epochs, '--devices', 'cpu:0,1'])).durationMs);
      sequentialMs.push(
        (await runTrainCommand([project, ...epochs, '--devices', 'cpu:0', '--placement', 'waves'])).durationMs,
      );
    }
    const speedup = median(sequentialMs.map((duration, pair) => duration / parallelMs[pair]));
    return [
      seconds('two members at the same time', parallelMs),
      seconds('two members one after the other', sequentialMs),
      figure({ suite: 'parallel', name: 'speed-up', value: speedup, unit: 'x', better: 'higher', target: 1.8 }),
    ];
  },
};

function seconds(name: string, durationsMs: readonly number[]): Figure {
  const value = median(durationsMs) / 1000;
  return figure({ suite: 'parallel', name: `${name}, median`, value, unit: 's', better: 'lower', target: null });
}
