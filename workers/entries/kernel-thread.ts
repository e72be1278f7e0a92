import { workerData } from 'node:worker_threads';
import { takePartForever } from '../backends/wasm/threads/job.ts';
import { type KernelThreadData, listKernels } from '../backends/wasm/threads/kernel-threads.ts';

/** Entry of a thread that takes part in the kernels of its process (`backends/wasm/threads/kernel-threads.ts`). */

const { job, memory, modules } = workerData as KernelThreadData;
const instances = modules.map((module) => new WebAssembly.Instance(module, { env: { memory } }).exports);
takePartForever(job, listKernels(instances));
