import { beforeAll, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { createStreamDataset } from '../../../../workers/data/streams/source-dataset.ts';
import { subset } from '../../../../workers/data/dataset.ts';
import { Generator } from '../../../../workers/random/index.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { dataset } from '../../strategies/ranks.ts';
import { temporaryFolder } from './fakes.ts';
import { base, partsOf } from './two-ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

/** The samples in another order for each rank and epoch, seven at a time. */
function streamed() {
  const { name, featureShape, classCount, length } = dataset;
  return createStreamDataset({
    name,
    featureShape,
    classCount,
    length,
    *batches({ seed, epoch }) {
      const order = new Generator(seed, `order-${epoch}`).permutation(length);
      for (let at = 0; at < length; at += 7) {
        const { features, targets } = subset(dataset, order.subarray(at, at + 7));
        yield { features, targets };
      }
    },
  });
}

/** Trains both ranks, from their newest common state. @param stopAt step of the stop */
async function train(folder: string, stopAt?: number): Promise<number[][]> {
  const input: RunConfigInput = { ...base, maxEpochs: 3 };
  const groups = createInMemoryGroup([0, 1]).groups;
  const point = await findResumePoint(folder, [0, 1]);
  const ranks = groups.map((group) => partsOf(input, folder, group, streamed()));
  const trainers = await Promise.all(
    ranks.map(async (parts) => {
      const { callbacks, controls } = parts;
      const resumed = point === null ? undefined : await loadTrainingState(parts, { round: point.round, worldSize: 2 });
      const stopper = {
        name: 'stopper',
        onStepEnd({ step }: { step: number }) {
          if (step === stopAt) controls.take({ action: 'stop' });
        },
      };
      return new Trainer({ ...parts, callbacks: [...callbacks, stopper] }, resumed);
    }),
  );
  await Promise.all(trainers.map((trainer) => trainer.fit()));
  return ranks.map(({ member }) => member.model.getWeights().flatMap((weight) => [...weight.dataSync()]));
}

it('repeats the bits of an uninterrupted run on a stream that a resume opens anew', async () => {
  const whole = await train(await temporaryFolder());
  const folder = await temporaryFolder();
  // 53 samples in batches of 4: 14 steps an epoch, so the stop is within the second.
  expect(await train(folder, 20)).not.toEqual(whole);
  expect(await train(folder)).toEqual(whole);
  expect(whole[0]).not.toEqual(whole[1]);
});
