import { Readable } from 'node:stream';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import { readFitted } from '../store/runs/fitted.ts';
import { checkpointEntries, type SkippedFile } from './checkpoint-entries.ts';
import { fileEntries } from './file-entries.ts';
import type { ExportEntry } from './sinks.ts';

/**
 * A set of checkpoints as an ensemble that `openEnsemble` opens: `ensemble.json`, the architectures and the weights that it names.
 * @throws Error if a part of it is damaged
 */
export async function* ensembleEntries(folder: string, description: EnsembleDescription): AsyncGenerator<ExportEntry> {
  const refuse = ({ path, reason }: SkippedFile): never => {
    throw new Error(`${path} cannot be part of an ensemble: ${reason}. Choose another set.`);
  };
  const bases = description.members.map(({ weights }) => weights.replace(/\.safetensors$/, ''));
  yield* checkpointEntries(folder, bases, refuse);
  yield* fileEntries(
    folder,
    description.members.map(({ model }) => model),
    refuse,
  );
  if (description.postprocessing !== null) {
    const fitted = await readFitted(folder, description.postprocessing);
    const { path } = fitted?.outside?.reference ?? {};
    yield* fileEntries(folder, [description.postprocessing, ...(path === undefined ? [] : [path])], refuse);
  }
  const text = `${JSON.stringify(description, null, 2)}\n`;
  yield { path: 'ensemble.json', compress: true, open: () => Readable.from([text]) };
}
