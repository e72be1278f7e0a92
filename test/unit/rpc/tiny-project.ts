import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Three blobs in the plane and two small members. A run takes one to two seconds. */
const source = `
import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'Blobs',
  description: 'Three blobs in the plane.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(8).meta({ help: 'Units of the hidden layer.' }) }),
  defaults: { maxEpochs: 3, batchSize: 16, logEverySteps: 2, devices: 'cpu' },
  data: ({ seed }) =>
    splitDataset(gaussianBlobs({ samples: 120, seed }), { validation: 30, test: 30 }, new Generator(seed, 'split')),
  model: ({ hyperparameters, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ inputShape: [...featureShape], units: hyperparameters.width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
`;

/**
 * Like the source above, but ranks compute differently with weights of the same shapes: rank 0 with the first activation, rank 1 with the
 * second.
 */
export function sourceWithActivations(first: string, second: string): string {
  return source
    .replace("activation: 'relu'", `activation: ['${first}', '${second}'][rank]`)
    .replace('model: ({ hyperparameters,', 'model: ({ rank, hyperparameters,');
}

/** Writes the project into a new folder in `parent`. @returns that folder */
export async function writeTinyProject(parent: string, text = source): Promise<string> {
  const folder = join(parent, 'blobs');
  await mkdir(folder);
  await writeFile(join(folder, 'project.ts'), text);
  return folder;
}
