import type { KernelBackend } from '@tensorflow/tfjs-core';

interface Device {
  readonly lost: Promise<{ reason: string; message: string }>;
  addEventListener(type: 'uncapturederror', listener: (event: { error: object & { message: string } }) => void): void;
}

/** The members of tfjs's backend that are used here. */
export interface WebgpuBackend extends KernelBackend {
  readonly device: Device;
  readonly tensorMap: { get(id: object): { values: unknown; complexTensorInfos?: unknown } };
}

/**
 * Makes reads throw the errors of the GPU, which WebGPU reports to no caller: later kernels run on, and reads return
 * zeros. Makes synchronous reads, for which tfjs needs a browser's canvas, throw an error that names the alternative.
 */
export function guardReads(backend: WebgpuBackend, adapter: string): void {
  let failure: Error | null = null;
  const fail = (what: string, remedy: string): void => {
    failure ??= new Error(`${adapter} ${what}. ${remedy}`);
  };
  backend.device.addEventListener('uncapturederror', ({ error }) => {
    const isMemory = error.constructor.name === 'GPUOutOfMemoryError';
    if (isMemory)
      fail(`has no memory left: ${error.message}`, 'Use a smaller --batch-size, or fewer members to a device.');
    else
      fail(
        `refused an operation of TensorFlow.js: ${error.message}`,
        'If the message names a size, use a smaller --batch-size; otherwise --backend wasm.',
      );
  });
  void backend.device.lost.then(({ reason, message }) =>
    fail(
      `was lost (${reason}): ${message}`,
      "Resume the run; if it happens again, read the driver's messages in the system log.",
    ),
  );
  const read = backend.read.bind(backend);
  backend.read = async (id) => {
    try {
      const values = await read(id);
      if (failure === null) return values;
    } catch (cause) {
      if (failure === null) throw cause;
    }
    throw failure;
  };
  guardSynchronousReads(backend);
}

function guardSynchronousReads(backend: WebgpuBackend): void {
  const readSync = backend.readSync.bind(backend);
  backend.readSync = (id) => {
    const { values, complexTensorInfos } = backend.tensorMap.get(id);
    if (values !== null && values !== undefined) return readSync(id);
    if (complexTensorInfos !== null && complexTensorInfos !== undefined) return readSync(id);
    throw new Error(
      'The webgpu backend cannot read a tensor synchronously. Call await tensor.data() or await tensor.array(), ' +
        'not dataSync() or arraySync(), or use --backend wasm.',
    );
  };
}
