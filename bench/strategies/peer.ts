import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fastestBlas, readSurvey } from '../../src-main/backends/blas-survey.ts';
import { type Peer, peersFolder } from '../compute/steppers.ts';

const steps = 150;

/** Measures data-parallel training like `gainsOfTwoRanks`, but with PyTorch's `DistributedDataParallel` over gloo. */
export async function dataParallelGainOf({ python }: Peer): Promise<number> {
  const coreType = fastestBlas(await readSurvey())?.blas.coreType ?? null;
  const env = { ...process.env, OMP_NUM_THREADS: '1', ...(coreType === null ? {} : { OPENBLAS_CORETYPE: coreType }) };
  const stepsPerSecond = (ranks: number): number => {
    const script = join(peersFolder, 'data_parallel.py');
    const { status, stdout, stderr } = spawnSync(python, [script, String(ranks), String(steps)], {
      encoding: 'utf8',
      env,
    });
    if (status !== 0) throw new Error(`${script} ended with exit code ${status}:\n${stderr}`);
    return Number(stdout);
  };
  return (2 * stepsPerSecond(2)) / stepsPerSecond(1);
}
