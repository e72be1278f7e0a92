import { registerHooks } from 'node:module';
import { ownModule } from './own-files.ts';

const library = ownModule('index');

/** Packages that a project may import without installing them: it gets the worker's copies. */
const ownCopies = new Map([
  ['tutti-ensembles', library],
  // The library's name before it was a package: older projects import it.
  ['tutti', library],
  ['@tensorflow/tfjs', ownModule('tensorflow/tf-module')],
  ['@tensorflow/tfjs-core', import.meta.resolve('@tensorflow/tfjs-core')],
  ['@tensorflow/tfjs-layers', import.meta.resolve('@tensorflow/tfjs-layers')],
  ['zod', import.meta.resolve('zod')],
]);

let isShared = false;

/** From now on projects, and tfjs-node's kernels, import the TensorFlow.js of this process. */
export function shareOwnCopies(): void {
  if (isShared) return;
  isShared = true;
  registerHooks({
    resolve(specifier, context, next) {
      const url = ownCopies.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}
