import { createRequire } from 'node:module';
import { join } from 'node:path';
import util from 'node:util';
import type { KernelBackend } from '@tensorflow/tfjs-core';
import { tutti } from '../../core/text/program.ts';
import { readBuildFile } from '../../core/node/atomic-file.ts';
import {
  type NativeBuild,
  nativeBuildSchema,
  nativeFolderVariable,
  nativeSetupRemedy,
} from '../../core/protocol/machine/devices.ts';
import { shareOwnCopies } from '../system/own-copies.ts';
import { tf } from '../tensorflow/tf.ts';
import type { Backend } from './contract.ts';
import { completeDepthwise } from './depthwise.ts';
import { correctVolumes } from './volumes.ts';

/** tfjs-node's binding to TensorFlow's C API. */
interface Binding {
  isUsingGpuDevice(): boolean;
}

type BackendClass = new (binding: Binding, packageName: string) => KernelBackend;

/**
 * TensorFlow itself, through tfjs-node: on CPU cores, or on the one GPU that `CUDA_VISIBLE_DEVICES` shows this process.
 * @throws Error with the command to run, if it is not set up or damaged
 */
export async function start(): Promise<Backend> {
  const folder = process.env[nativeFolderVariable] ?? '';
  const build = readBuild(folder);
  configureLibrary();
  restoreUtilities();
  shareOwnCopies();
  const load = createRequire(join(folder, 'tfjs-node', 'dist', 'index.js'));
  const binding = load(join(folder, build.binding)) as Binding;
  load('./register_all_kernels');
  const { NodeJSKernelBackend } = load('./nodejs_kernel_backend') as { NodeJSKernelBackend: BackendClass };
  tf.registerBackend('tensorflow', () => new NodeJSKernelBackend(binding, '@tensorflow/tfjs-node'));
  if (!(await tf.setBackend('tensorflow')))
    throw new Error(`TensorFlow ${build.tensorflow} in ${folder} did not start.`);
  correctVolumes('tensorflow');
  completeDepthwise('tensorflow');
  return {
    kind: 'tensorflow',
    description: describe(build, binding.isUsingGpuDevice()),
    memoryBytes: () => tf.memory().numBytes,
  };
}

function readBuild(folder: string): NativeBuild {
  const build = folder === '' ? null : readBuildFile(folder, nativeBuildSchema, nativeSetupRemedy);
  if (build !== null) return build;
  throw new Error(`The tensorflow backend is not set up${folder === '' ? '' : ` in ${folder}`}. ${nativeSetupRemedy}`);
}

/** Sets the variables that TensorFlow reads when it loads. Variables that the user has set keep their values. */
function configureLibrary(): void {
  const settings = {
    // A worker has one core; by default TensorFlow starts a thread for each core of the machine.
    TF_NUM_INTRAOP_THREADS: '1',
    TF_NUM_INTEROP_THREADS: '1',
    // By default the first process takes all of a GPU's memory.
    TF_FORCE_GPU_ALLOW_GROWTH: 'true',
    // The same configuration and seed give the same bits, on GPUs too.
    TF_DETERMINISTIC_OPS: '1',
    TF_CPP_MIN_LOG_LEVEL: '1',
  };
  for (const [name, value] of Object.entries(settings)) process.env[name] ??= value;
}

/** Restores two functions that tfjs-node 4.22 calls and Node 23 removed. */
function restoreUtilities(): void {
  const missing = {
    isNullOrUndefined: (value: unknown): boolean => value === null || value === undefined,
    isArray: Array.isArray,
  };
  for (const [name, value] of Object.entries(missing)) {
    if (!(name in util)) Object.defineProperty(util, name, { value });
  }
}

function describe(build: NativeBuild, isUsingGpu: boolean): string {
  const name = `TensorFlow ${build.tensorflow}`;
  if (isUsingGpu) return `${name} (CUDA)`;
  const visible = process.env.CUDA_VISIBLE_DEVICES;
  if (visible === undefined || visible === '') return `${name} (one CPU core)`;
  const why = build.hasCuda
    ? "it could not open the driver or a CUDA library, which the rank's log names"
    : `this build has no CUDA; run ${tutti} setup --gpu`;
  return `${name} (one CPU core, NOT the GPU: ${why})`;
}
