import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** What a number depends on. */
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
    // Without what its builder calls it.
    system: `${type()} ${release().split('-')[0]} ${process.arch}`,
    node: process.version,
  };
}
