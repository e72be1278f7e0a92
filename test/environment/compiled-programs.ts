import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkers } from '../../scripts/package/bundle.ts';
import { newestMs } from '../../src-main/built/build.ts';
import { repository } from './test-home.ts';

/**
 * The programs of workers, compiled as in the package for npm, which tests name in `TUTTI_PROGRAMS`. A worker then
 * reads 40 modules instead of 400, and needs 0.5 s of a core to start and end instead of 0.75 s. The tests of the
 * command line run the sources.
 */
export const compiledPrograms = join(repository, 'node_modules', '.cache', 'tutti-programs');

const sources = ['core', 'workers', 'package.json', 'package-lock.json', 'scripts/package/bundle.ts'];

/** Compiles the programs before the tests, if they are missing or older than their sources. */
export default async function setUp(): Promise<void> {
  const compiledMs = await newestMs(compiledPrograms);
  const changedMs = Math.max(...(await Promise.all(sources.map((source) => newestMs(join(repository, source))))));
  if (compiledMs >= changedMs) return;
  await mkdir(join(compiledPrograms, '..'), { recursive: true });
  const aside = await mkdtemp(`${compiledPrograms}-`);
  await bundleWorkers(repository, join(aside, 'new'));
  for (const file of ['package.json', 'workers/kernels']) {
    const isNeeded = (path: string): boolean => !path.endsWith('.ts');
    await cp(join(repository, file), join(aside, 'new', file), { recursive: true, filter: isNeeded });
  }
  // Another run of the tests may use the old ones.
  if (compiledMs > 0) await rename(compiledPrograms, join(aside, 'old'));
  await rename(join(aside, 'new'), compiledPrograms);
  await rm(aside, { recursive: true });
}
