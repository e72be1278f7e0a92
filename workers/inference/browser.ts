import { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { tf } from '../tensorflow/tf.ts';
import { assembleEnsemble, type EnsembleFiles, readDescription } from './assemble.ts';
import type { Ensemble } from './ensemble.ts';

/**
 * The library `tutti-ensembles/browser`: opens what `tutti export --format ensemble` wrote, from a server.
 *
 * @module Ensembles in a browser
 */

export { tf };
export type { Ensemble };
export type { EnsembleInput, Row } from './inputs.ts';
export type { ColumnWarning } from '../../core/ensemble/serving.ts';
export type { EnsemblePredictions } from '../../core/ensemble/predictions.ts';

/**
 * Opens an exported ensemble, whose folder a server offers. Models are built from the architectures that were exported.
 * @param url of the folder, such as `/models/passengers/`
 * @throws Error that names the file that is missing, damaged or does not fit
 */
export async function openEnsemble(url: string | URL): Promise<Ensemble> {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const base = new URL(url, page);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  const files: EnsembleFiles = {
    place: base.href,
    isExported: true,
    read: (path) => fetchBytes(new URL(path, base)),
    sha256,
  };
  // Also keeps the module in the bundle, which registers the kernels.
  if (tf.findBackend('cpu') === null) tf.registerBackend('cpu', () => new MathBackendCPU());
  await tf.setBackend('cpu');
  return assembleEnsemble(files, await readDescription(files));
}

async function fetchBytes(url: URL): Promise<Uint8Array> {
  const response = await fetch(url);
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  throw new Error(`${url.href} could not be read: the server answered ${response.status} ${response.statusText}.`);
}

/** Browsers compute it on pages from https and localhost only. */
async function sha256(bytes: Uint8Array): Promise<string | null> {
  if (globalThis.crypto?.subtle === undefined) return null;
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
