import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findBlasLibraries, type LibrarySystem } from '../../../../src-main/backends/blas-libraries.ts';

/** Lines of `ldconfig -p` on Debian 12 with OpenBLAS and BLIS installed. */
const linkerCache = `5 libs found in cache \`/etc/ld.so.cache'
	libopenblas.so.0 (libc6,x86-64) => /lib/x86_64-linux-gnu/libopenblas.so.0
	libmvec.so.1 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libmvec.so.1
	libblis.so.4 (libc6,x86-64) => /lib/x86_64-linux-gnu/libblis.so.4
	libblas.so.3 (libc6,x86-64) => /lib/x86_64-linux-gnu/libblas.so.3
`;

function system(
  platform: NodeJS.Platform,
  files: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  ldconfig = linkerCache,
): LibrarySystem {
  return {
    platform,
    environment,
    ownFolder: '/home/.tutti/native/blas',
    run: () => Promise.resolve({ status: 'exited', exitCode: 0, stdout: ldconfig, stderr: '' }),
    exists: (path) => files.includes(path),
    refuse: (path) => (path.startsWith('/tmp/') ? 'it can be written by every user of this machine' : null),
    resolve: (path) => Promise.resolve(`real:${path}`),
  };
}

it('finds the libraries that the dynamic linker of Linux knows, except reference BLAS', async () => {
  const files = ['/lib/x86_64-linux-gnu/libopenblas.so.0', '/lib/x86_64-linux-gnu/libblis.so.4'];
  expect(await findBlasLibraries(system('linux', files))).toEqual([
    { kind: 'OpenBLAS', library: 'real:/lib/x86_64-linux-gnu/libopenblas.so.0' },
    { kind: 'BLIS', library: 'real:/lib/x86_64-linux-gnu/libblis.so.4' },
  ]);
});

it('prefers the active conda environment to the system, and finds its MKL', async () => {
  const conda = { CONDA_PREFIX: '/conda' };
  const files = ['/lib/x86_64-linux-gnu/libopenblas.so.0', '/conda/lib/libopenblas.so.0', '/conda/lib/libmkl_rt.so.2'];
  expect(await findBlasLibraries(system('linux', files, conda))).toEqual([
    { kind: 'OpenBLAS', library: 'real:/conda/lib/libopenblas.so.0' },
    { kind: 'MKL', library: 'real:/conda/lib/libmkl_rt.so.2' },
  ]);
});

it('prefers a library that only the user and root can change, and otherwise names the one that must not be loaded', async () => {
  const search = { LD_LIBRARY_PATH: '/tmp/shared' };
  const planted = '/tmp/shared/libopenblas.so.0';
  const files = [planted, '/lib/x86_64-linux-gnu/libopenblas.so.0'];
  expect(await findBlasLibraries(system('linux', files, search))).toEqual([
    { kind: 'OpenBLAS', library: 'real:/lib/x86_64-linux-gnu/libopenblas.so.0' },
  ]);
  expect(await findBlasLibraries(system('linux', [planted], search))).toEqual([
    { kind: 'OpenBLAS', library: `real:${planted}` },
  ]);
});

it('skips a library that the linker lists but that is gone', async () => {
  expect(await findBlasLibraries(system('linux', []))).toEqual([]);
});

it("includes Accelerate of macOS, with Homebrew's OpenBLAS beside it", async () => {
  const found = await findBlasLibraries(system('darwin', ['/opt/homebrew/opt/openblas/lib/libopenblas.dylib']));
  expect(found.map(({ kind }) => kind)).toEqual(['Accelerate', 'OpenBLAS']);
});

it.each([
  ['linux', 'libscipy_openblas.so', []],
  ['darwin', 'libscipy_openblas.dylib', ['/System/Library/Frameworks/Accelerate.framework/Accelerate']],
  ['win32', 'libscipy_openblas.dll', []],
] as const)('finds the OpenBLAS that was set up on %s, beside one of the system', async (platform, name, further) => {
  const own = join('/home/.tutti/native/blas', name);
  const files = [own, '/lib/x86_64-linux-gnu/libopenblas.so.0'];
  const ofSystem = platform === 'linux' ? ['real:/lib/x86_64-linux-gnu/libopenblas.so.0'] : [];
  const found = await findBlasLibraries(system(platform, files));
  expect(found.map(({ library }) => library)).toEqual([...further, `real:${own}`, ...ofSystem]);
});
