import { createRequire } from 'node:module';
import { tf } from '../tensorflow/tf.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** Versions of the libraries that determine a run's numbers. */
export function libraryVersions(): Record<string, string> {
  return {
    tutti: version,
    node: process.versions.node,
    'tfjs-core': tf.version_core,
    'tfjs-layers': tf.version_layers,
  };
}
