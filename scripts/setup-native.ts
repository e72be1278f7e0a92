import { parseArgs } from 'node:util';
import { setUpTensorflow } from './native/tensorflow.ts';
import { setUpWebgpu } from './native/webgpu.ts';

/** `npm run setup:native [-- --gpu] [-- --webgpu]`: sets up the `tensorflow` backend in Tutti's home, or with `--webgpu` the `webgpu` backend. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { gpu: { type: 'boolean', default: false }, webgpu: { type: 'boolean', default: false } },
  });
  if (values.webgpu) await setUpWebgpu(note);
  if (!values.webgpu || values.gpu) await setUpTensorflow(values.gpu, note);
}

function note(text: string): void {
  console.error(text);
}

try {
  await main();
} catch (error) {
  console.error(`setup:native: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
