import { parseArgs } from 'node:util';
import { messageOf } from '../../core/text/errors.ts';
import { setUpBlas } from '../setup/blas.ts';
import { setUpTensorflow } from '../setup/tensorflow.ts';
import { setUpWebgpu } from '../setup/webgpu.ts';

/**
 * Entry of the process that sets up OpenBLAS (`--blas`), the `webgpu` backend (`--webgpu`) and the `tensorflow` backend
 * (`--tensorflow`, with CUDA `--gpu`) in folders of Tutti's home. Started by `src-main/cli/commands/machine.ts`.
 */
async function main(): Promise<void> {
  const { gpu, tensorflow, webgpu, blas, ...paths } = parseArgs({
    options: {
      gpu: { type: 'boolean', default: false },
      tensorflow: { type: 'boolean', default: false },
      webgpu: { type: 'boolean', default: false },
      blas: { type: 'boolean', default: false },
      'tensorflow-folder': { type: 'string', default: '' },
      'webgpu-folder': { type: 'string', default: '' },
      'blas-folder': { type: 'string', default: '' },
      archives: { type: 'string', default: '' },
    },
  }).values;
  const folders = {
    tensorflow: paths['tensorflow-folder'],
    webgpu: paths['webgpu-folder'],
    blas: paths['blas-folder'],
    archives: paths.archives,
  };
  if (blas) await setUpBlas(folders, note);
  if (webgpu) await setUpWebgpu(folders, note);
  if (tensorflow || gpu) await setUpTensorflow(folders, gpu, note);
}

function note(text: string): void {
  console.error(text);
}

try {
  await main();
} catch (error) {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
}
