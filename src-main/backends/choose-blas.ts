import { existsSync } from 'node:fs';
import type { Blas } from '../../core/protocol/machine/blas.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { type BlasSurvey, fastestBlas, readSurvey } from './blas-survey.ts';

/**
 * A BLAS must be so much faster than Tutti's own kernels to be taken: it makes a run's numbers depend on the library, and measurements
 * vary by some percent.
 */
const leastSpeedup = 1.2;

/**
 * The BLAS that all ranks of a run compute with, or null for Tutti's own kernels. Decided once by the hub and recorded in `run.json`, since
 * results depend on it in their last bits.
 * @throws when one is insisted on and none can be used
 */
export async function chooseBlas(
  {
    blas,
    backend,
    determinism = 'relaxed',
  }: Pick<RunConfig, 'blas' | 'backend'> & Partial<Pick<RunConfig, 'determinism'>>,
  survey: () => Promise<BlasSurvey> = readSurvey,
): Promise<Blas | null> {
  if (blas === 'off' || determinism === 'deterministic' || (backend !== 'auto' && backend !== 'wasm')) return null;
  const measured = await survey();
  const fastest = fastestBlas(measured);
  if (blas === 'on') {
    if (fastest === null) throw new Error(describeAbsence(measured));
    return fastest.blas;
  }
  const ownGflops = measured.own.kind === 'measured' ? measured.own.gflops : 0;
  return fastest !== null && fastest.gflops >= leastSpeedup * ownGflops ? fastest.blas : null;
}

/** What a resumed run goes on with: what it had, so that its numbers stay the same, unless that is gone or was configured away. */
export async function blasOfResumed(before: RunRecord, config: RunConfig): Promise<Blas | null> {
  const { blas } = before;
  const isSameWish = (['blas', 'backend', 'determinism'] as const).every((key) => config[key] === before.config[key]);
  const isThere = blas === null || blas.kind === 'Accelerate' || existsSync(blas.library);
  return isSameWish && isThere ? blas : chooseBlas(config);
}

/** Why no BLAS can be used, and how to get one. */
export function describeAbsence({ libraries }: BlasSurvey): string {
  const [first] = libraries;
  if (first === undefined)
    return `No system BLAS (OpenBLAS, BLIS, MKL, Accelerate) was found. ${installBlas} --blas off trains without.`;
  return first.reply.kind === 'unusable' ? first.reply.reason : '';
}

/** How one is installed. */
export const installBlas =
  {
    linux: 'Install OpenBLAS: apt install libopenblas0-pthread, dnf install openblas, or conda install openblas.',
    darwin: 'Install OpenBLAS: brew install openblas.',
  }[process.platform as 'linux' | 'darwin'] ??
  'Install OpenBLAS and put its folder on the PATH: conda install openblas.';
