/**
 * `npm run test:setup [-- blas] [-- tensorflow] [-- webgpu] [-- mpi]`: sets up what npm does not install, if it is missing:
 * backends, and newer releases of MPI. Tests use them if they are present, and never install anything.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type MpiRelease, mpiReleases, notSetUp, prefixOf } from './mpi-releases.ts';
import { nativeFolder } from './tensorflow.ts';
import { blasFolder, repository, testHome } from './test-home.ts';
import { webgpuFolder } from './webgpu.ts';

const backends = {
  blas: { folder: blasFolder, options: ['--blas'] },
  tensorflow: { folder: nativeFolder, options: ['--tensorflow'] },
  webgpu: { folder: webgpuFolder, options: ['--webgpu'] },
};
const parts = ['blas', 'tensorflow', 'webgpu', 'mpi'] as const;
type Part = (typeof parts)[number];

const asked = process.argv.slice(2);
const isPart = (name: string): name is Part => (parts as readonly string[]).includes(name);
const unknown = asked.find((name) => !isPart(name));
if (unknown !== undefined) throw new Error(`There is no "${unknown}" to set up, only ${parts.join(', ')}.`);

function run(program: string, ...args: string[]): void {
  // Debian's Python would install into <prefix>/local.
  const env = { ...process.env, TUTTI_HOME: testHome, DEB_PYTHON_INSTALL_LAYOUT: 'deb' };
  const { status } = spawnSync(program, args, { env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

/** Packages of PyPI bring the programs and libraries of MPI, and run nothing when they are installed. */
function setUpMpi(release: MpiRelease): void {
  if (notSetUp(release) === null) return console.log(`${release} is set up in ${prefixOf(release)}.`);
  const options = [
    '--prefix',
    prefixOf(release),
    '--no-deps',
    '--only-binary',
    ':all:',
    '--disable-pip-version-check',
    '--root-user-action',
    'ignore',
  ];
  run('python3', '-m', 'pip', 'install', '--quiet', ...options, mpiReleases[release].package);
  if (notSetUp(release) !== null) process.exitCode = 1;
}

function setUpBackend(name: keyof typeof backends): void {
  const { folder, options } = backends[name];
  if (existsSync(folder)) return console.log(`${name} is set up in ${folder}.`);
  run(process.execPath, join(repository, 'src-main', 'tutti.mjs'), 'setup', ...options);
}

for (const name of asked.length === 0 ? parts : asked.filter(isPart)) {
  if (name === 'mpi') for (const release of Object.keys(mpiReleases) as MpiRelease[]) setUpMpi(release);
  else setUpBackend(name);
}
