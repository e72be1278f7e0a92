import { tutti } from '../../core/text/program.ts';
import type { Blas } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RunFacts } from '../../core/protocol/pages/run-updates.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { refuseLibrary } from '../../core/node/file-owner.ts';
import type { BlasLibrary } from './blas-libraries.ts';
import { type BlasSurvey, fastestBlas, findOnThisSystem, knownSurvey, readSurvey } from './blas-survey.ts';

/**
 * The least speedup over Tutti's kernels for which a BLAS is used. A BLAS makes a run's numbers depend on the library,
 * and measurements vary by some percent.
 */
const leastSpeedup = 1.2;

/**
 * How much faster two threads multiply than one. A BLAS computes in one thread, because the bits of its results depend
 * on their number.
 */
const speedupOfTwo = 1.6;

/**
 * Chooses the BLAS for all ranks of a run; null for Tutti's kernels. The hub chooses once and records it in `run.json`,
 * since the last bits of results depend on it.
 * @param threads of each worker
 * @throws Error if the configuration requires a BLAS and none can be used
 */
export async function chooseBlas(
  {
    blas,
    backend,
    determinism = 'relaxed',
  }: Pick<RunConfig, 'blas' | 'backend'> & Partial<Pick<RunConfig, 'determinism'>>,
  survey: () => Promise<BlasSurvey> = readSurvey,
  threads = 1,
): Promise<Blas | null> {
  if (blas === 'off' || determinism === 'deterministic' || (backend !== 'auto' && backend !== 'wasm')) return null;
  const measured = await survey();
  const fastest = fastestBlas(measured);
  if (blas === 'on') {
    if (fastest === null) throw new Error(describeAbsence(measured));
    return fastest.blas;
  }
  const ownGflops = measured.own.kind === 'measured' ? measured.own.gflops : 0;
  const ofThreads = ownGflops * speedupOfTwo ** Math.log2(threads);
  return fastest !== null && fastest.gflops >= leastSpeedup * ofThreads ? fastest.blas : null;
}

/**
 * The BLAS of a resumed run: the same as before, so that its numbers stay the same, unless this system does not have it
 * or the configuration changed. A run folder may come from somebody else, so a library that only its record names is
 * not loaded.
 */
export async function blasOfResumed(
  before: RunRecord,
  config: RunConfig,
  find: () => Promise<BlasLibrary[]> = findOnThisSystem,
): Promise<Blas | null> {
  const { blas } = before;
  const isSameRequest = (['blas', 'backend', 'determinism'] as const).every(
    (key) => config[key] === before.config[key],
  );
  return isSameRequest && (blas === null || (await isUsable(blas, find))) ? blas : chooseBlas(config);
}

/** Whether this system offers the BLAS of a record, and nobody else can have changed it. */
export async function isUsable(
  { library }: Blas,
  find: () => Promise<BlasLibrary[]> = findOnThisSystem,
): Promise<boolean> {
  return (await find()).some((offered) => offered.library === library) && refuseLibrary(library) === null;
}

/** The reason why no BLAS can be used, and how to install one. */
export function describeAbsence({ libraries }: BlasSurvey): string {
  const [first] = libraries;
  if (first === undefined)
    return `No BLAS (OpenBLAS, BLIS, MKL, Accelerate) was found. ${installBlas} --blas off trains without.`;
  return first.reply.kind === 'unusable' ? first.reply.reason : '';
}

/** How to install a BLAS. */
export const installBlas = `${tutti} setup --blas fetches OpenBLAS, or install one with the system's package manager.`;

/** Measured by `npm run bench -- compute` (docs/benchmarks.md). */
export const gainElsewhere =
  'On the machine of the benchmarks, where it was measured, OpenBLAS made steps of an MLP and a CNN 1.4 and 1.5 times ' +
  'as fast, and of ResNet-18 1.7 times.';

/** Multiplications of a product from which a BLAS gains as much; with a quarter of that it gains nothing. */
const leastGaining = 5e7;

/**
 * What a BLAS would gain in a run, where none is found and its model has products of such a size; null elsewhere.
 * @param facts of the run or of an earlier one of its project; null where there is none
 */
export async function adviseBlas(
  { config, blas }: Pick<RunRecord, 'config' | 'blas'>,
  facts: Pick<RunFacts, 'backend' | 'largestProduct'> | null,
  survey: () => Promise<BlasSurvey | null> = knownSurvey,
): Promise<string | null> {
  if (blas !== null || config.blas !== 'auto' || config.determinism !== 'relaxed') return null;
  if (facts === null || !facts.backend.startsWith('wasm') || (facts.largestProduct ?? 0) < leastGaining) return null;
  const measured = await survey();
  if (measured === null || measured.libraries.length > 0) return null;
  return `No BLAS was found, and this model has matrix products in which one gains. ${gainElsewhere} Fetch it: ${tutti} setup --blas.`;
}
