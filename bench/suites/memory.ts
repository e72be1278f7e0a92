import { type Figure, figure, type Suite } from '../figures.ts';
import { Stepper } from '../compute/steppers.ts';

const steps = 1000;
/** ResNet-18 would take a quarter of an hour. */
const networks = ['mlp', 'cnn', 'two-nets'];

/** Growth of tensors and heap over 1000 training steps, after a few steps that fill caches. */
export const suite: Suite = {
  name: 'memory',
  async run(note) {
    const figures: Figure[] = [];
    for (const network of networks) {
      note(network);
      const stepper = await Stepper.ofTutti(null);
      const before = await stepper.train(network, 3);
      const after = await stepper.train(network, steps);
      stepper.stop();
      const of = (what: string, value: number, unit: string): Figure => {
        const name = `${network}: growth of ${what} over ${steps} steps`;
        return figure({ suite: 'memory', name, value, unit, better: 'lower', target: 0 });
      };
      figures.push(of('tensors', after.tensors - before.tensors, 'tensors'));
      figures.push(of('the heap', (after.heapBytes - before.heapBytes) / 2 ** 20, 'MiB'));
    }
    return figures;
  },
};
