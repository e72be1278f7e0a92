import { existsSync } from 'node:fs';
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
      'absent',
      'absent-loss',
    ]),
    rank: z.int().min(0).default(1),
    atStep: z.int().min(0).default(4),
    /** A rank that is absent comes once this file exists. */
    comesWith: z.string().default(''),
    hiddenUnits: z.int().min(0).default(0),
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

  model({ hyperparameters: { fault, rank: faultyRank, hiddenUnits }, rank, targetSize }) {
    ownRank = rank;
    if (fault === 'model' && rank === faultyRank) throw new Error('No such layer: "densse".');
    if (fault === 'disagree' && rank === faultyRank) gatherAnotherType();
    const units = fault === 'width' ? targetSize + 1 : targetSize;
    const hidden = hiddenUnits === 0 ? [] : [tf.layers.dense({ units: hiddenUnits, inputShape: [2] })];
    ownModel = tf.sequential({ layers: [...hidden, tf.layers.dense({ units, inputShape: [2] })] });
    return ownModel;
  },

  loss({ outputs: [logits], targets, step, hyperparameters: { fault, rank, atStep, comesWith } }) {
    const loss = crossEntropyLoss(logits, targets);
    if (step !== atStep) return loss;
    const isAbsent = fault === 'absent' || fault === 'absent-loss';
    if (isAbsent && ownRank !== rank) sayWhenWaiting();
    if (ownRank !== rank) return loss;
    if (isAbsent) stayAway(comesWith);
    if (fault === 'exit') {
      console.log('The licence has expired.');
      process.exit(7);
    }
    if (fault === 'loss' || fault === 'absent-loss') throw new Error('The weights of the classes are missing.');
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

type Exchange = (this: ProcessGroup, ...call: unknown[]) => Promise<unknown>;

/** @param begin begins the exchange itself */
function replaceExchange(
  name: 'reduceScatter' | 'allReduceParts',
  replacement: (begin: () => Promise<unknown>) => Promise<unknown>,
): void {
  const exchange = Reflect.get(ProcessGroup.prototype, name) as Exchange;
  Reflect.set(ProcessGroup.prototype, name, function (this: ProcessGroup, ...call: unknown[]) {
    return replacement(() => exchange.apply(this, call));
  });
}

/** The system kills the process once its part of the next exchange of gradients is on its way. */
function killInExchange(): void {
  replaceExchange('reduceScatter', (begin) => {
    const summed = begin();
    process.kill(process.pid, 'SIGKILL');
    return summed;
  });
}

/** Says that the rank has entered the next exchange of gradients, and waits in it for one that has not come. */
function sayWhenWaiting(): void {
  replaceExchange('allReduceParts', (begin) => {
    const timer = setTimeout(() => console.log('The rank waits in an exchange.'), 50);
    return begin().finally(() => clearTimeout(timer));
  });
}

/** The rank does not come to the next exchange of gradients before a file exists. */
function stayAway(untilFile: string): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(untilFile)) Atomics.wait(sleeper, 0, 0, 5);
}

function fail(message: string): never {
  throw new Error(message);
}

function fillHeap(): void {
  const kept: string[][] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => `${kept.length} ${i}`));
}
