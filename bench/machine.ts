import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** The machine that a number was measured on. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    // Without the builder's suffix.
    system: `${type()} ${release().split('-')[0]} ${process.arch}`,
    node: process.version,
  };
}
