import { availableParallelism, cpus, hostname, release, totalmem } from 'node:os';
import type { Placement } from '../../core/protocol/machine/devices.ts';
import type { Environment } from '../../core/protocol/run/record.ts';

/** Variables that may change results or speed. */
const relevant =
  /^(TUTTI_|OMP_|OPENBLAS_|MKL_|BLIS_|CUDA_|NVIDIA_|ROCR_|HIP_|TF_|UV_THREADPOOL_SIZE$|NODE_OPTIONS$|LD_LIBRARY_PATH$|LD_PRELOAD$|LANG$|TZ$)/;
/** Names of variables that hold secrets. */
const secret = /TOKEN|SECRET|PASS|CREDENTIAL|AUTH|KEY|COOKIE/i;

/** Where an attempt trains: the machine, its devices, versions and variables, without secrets. */
export function environmentOf(plan: readonly Placement[]): Environment {
  const variables = Object.entries(process.env).filter(([name]) => relevant.test(name) && !secret.test(name));
  return {
    host: hostname(),
    os: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.versions.node,
    devices: [...new Set(plan.map(({ device }) => `${device.id} ${device.name}`))],
    variables: Object.fromEntries(variables.map(([name, value = '']) => [name, value])),
  };
}
