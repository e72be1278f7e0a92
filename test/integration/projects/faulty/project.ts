import {
  crossEntropyLoss,
  defineProject,
  type LayersModel,
  gaussianBlobs,
  Generator,
  ProcessGroup,
  splitDataset,
  tf,
  z,
} from 'tutti-ensembles';

let ownRank = 0;
let ownModel: LayersModel | null = null;

/** Does something forbidden on one rank at one step. */
export default defineProject({
  name: 'Faulty',
  description: 'Makes the mistake that its hyperparameters name.',
  task: 'classification',
  hyperparameters: z.object({
    fault: z.enum([
      'exit',
      'loop',
      'nan',
      'data',
      'model',
      'width',
      'labels',
      'disagree',
      'weight',
      'loss',
      'timer',
      'heap',
      'kill',
    ]),
    rank: z.int().min(0).default(1),
    atStep: z.int().min(0).default(4),
  }),
  defaults: { batchSize: 30, logEverySteps: 1, maxEpochs: 3 },

  data({ hyperparameters: { fault } }) {
    if (fault === 'data') throw new Error('The sensor archive is empty.');
    const splits = splitDataset(
      gaussianBlobs({ samples: 150, spread: 2, seed: 7 }),
      { validation: 0.2, test: 0.2 },
      new Generator(7, 'split'),
    );
    if (fault !== 'labels') return splits;
    return { ...splits, train: { ...splits.train, targets: splits.train.targets.map(() => 3) } };
  },

  model({ hyperparameters: { fault, rank: faultyRank }, rank, targetSize }) {
    ownRank = rank;
    if (fault === 'model' && rank === faultyRank) throw new Error('No such layer: "densse".');
    if (fault === 'disagree' && rank === faultyRank) gatherAnotherType();
    const units = fault === 'width' ? targetSize + 1 : targetSize;
    ownModel = tf.sequential({ layers: [tf.layers.dense({ units, inputShape: [2] })] });
    return ownModel;
  },

  loss({ outputs: [logits], targets, step, hyperparameters: { fault, rank, atStep } }) {
    const loss = crossEntropyLoss(logits, targets);
    if (ownRank !== rank || step !== atStep) return loss;
    if (fault === 'exit') {
      console.log('The licence has expired.');
      process.exit(7);
    }
    if (fault === 'loss') throw new Error('The weights of the classes are missing.');
    if (fault === 'timer') setTimeout(() => fail('The sensor does not answer.'));
    if (fault === 'heap') fillHeap();
    if (fault === 'kill') killInExchange();
    if (fault === 'loop') loopForever();
    if (fault === 'weight') ownModel?.layers[0].weights[1].write(tf.zeros([logits.shape[1] ?? 0]));
    return fault === 'nan' ? tf.mul(loss, NaN) : loss;
  },
});

/** Says so first, so that tests know that the rank reads no more requests. */
function loopForever(): never {
  console.log('The loss loops forever.');
  for (;;);
}

/** Simulates a build of another version: the ranks no longer make the same calls. */
function gatherAnotherType(): void {
  ProcessGroup.prototype.allGather = async function (this: ProcessGroup) {
    await this.barrier();
    return [];
  };
}

/** The system kills the process once its part of the next exchange of gradients is on its way. */
function killInExchange(): void {
  type Exchange = (this: ProcessGroup, ...call: unknown[]) => Promise<unknown>;
  const exchange = Reflect.get(ProcessGroup.prototype, 'reduceScatter') as Exchange;
  Reflect.set(ProcessGroup.prototype, 'reduceScatter', function (this: ProcessGroup, ...call: unknown[]) {
    const summed = exchange.apply(this, call);
    process.kill(process.pid, 'SIGKILL');
    return summed;
  });
}

function fail(message: string): never {
  throw new Error(message);
}

function fillHeap(): void {
  const kept: string[][] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => `${kept.length} ${i}`));
}
