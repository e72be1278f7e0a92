import { hash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { tf, type LayersModel } from '../tensorflow/tf.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { readOwnText } from '../../core/node/own-files.ts';
import { errorCode } from '../../core/node/file-error.ts';

const weightsFile = 'weights.bin';

/**
 * Writes a model in the format of `tf.loadLayersModel`: `model.json` (topology, and names, shapes and types of the
 * weights) and `weights.bin` (their values, one after the other).
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

/**
 * The architecture of a rank's model, `<run>/models/rank-<r>/<sha256>.json`, in the format of `modelTopology` of
 * `tf.loadLayersModel`. Every checkpoint names its architecture, because the project's source may change after the run.
 */

/** Saves the architecture of a rank's model, unless it is saved already. @returns its SHA-256 */
export async function keepTopology(runFolder: string, rank: number, text: string): Promise<string> {
  const sha256 = hash('sha256', text, 'hex');
  const path = pathOf(runFolder, rank, sha256);
  // A damaged one is as good as none: its text is here.
  const kept = await readOwnText(dirname(path), basename(path)).catch(() => null);
  if (kept !== text) await writeFileAsOnlyWriter(path, text);
  return sha256;
}

/** Reads the architecture that a checkpoint names. @throws with file and remedy when it is missing or damaged */
export async function readTopology(runFolder: string, rank: number, sha256: string): Promise<string> {
  const path = pathOf(runFolder, rank, sha256);
  const text = await readOwnText(dirname(path), basename(path)).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new Error(`${path} is missing: it holds the model of rank ${rank}. Restore it from a copy.`, {
      cause: error,
    });
  });
  const found = hash('sha256', text, 'hex');
  if (found === sha256) return text;
  throw new Error(
    `${path} was damaged or changed: its SHA-256 is ${found}, not the one in its name. Restore it from a copy.`,
  );
}

function pathOf(runFolder: string, rank: number, sha256: string): string {
  return join(runFolder, 'models', `rank-${rank}`, `${sha256}.json`);
}
