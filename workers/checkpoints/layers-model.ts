import { join } from 'node:path';
import { tf, type LayersModel } from '../tensorflow/tf.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';

const weightsFile = 'weights.bin';

/**
 * Writes a model in the format of `tf.loadLayersModel`: `model.json` (topology, and names, shapes and types of the weights)
 * and `weights.bin` (their values, one after the other).
 *
 * Source: TensorFlow.js, `tf.io.ModelJSON`.
 */
export async function writeLayersModel(model: LayersModel, folder: string): Promise<void> {
  await model.save(
    tf.io.withSaveHandler(async (artifacts) => {
      const { modelTopology, weightSpecs = [], weightData, format, generatedBy, convertedBy } = artifacts;
      const weightsManifest = [{ paths: [weightsFile], weights: weightSpecs }];
      const description = { modelTopology, format, generatedBy, convertedBy, weightsManifest };
      await writeFileAsOnlyWriter(
        join(folder, weightsFile),
        new Uint8Array(tf.io.CompositeArrayBuffer.join(weightData)),
      );
      await writeFileAsOnlyWriter(join(folder, 'model.json'), JSON.stringify(description));
      return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
    }),
  );
}
