import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { compareBlas } from '../../health/backend-checks.ts';
import { nodeBinary, nodeFlags, setUpEntry } from '../../processes/node-process.ts';
import { homePaths } from '../../store/home.ts';
import { exitCodes } from '../errors.ts';

export interface SetupOptions {
  blas?: boolean;
  tensorflow?: boolean;
  gpu?: boolean;
  webgpu?: boolean;
}

/**
 * `tutti setup`: downloads into Tutti's home what npm does not install. Without an option these are OpenBLAS and
 * TensorFlow, whose binding is compiled.
 * @returns the exit code
 */
export async function setUp(options: SetupOptions): Promise<number> {
  const { tensorflow, webgpu, blas, cache } = homePaths();
  const folders = [
    '--tensorflow-folder',
    tensorflow,
    '--webgpu-folder',
    webgpu,
    '--blas-folder',
    blas,
    '--archives',
    join(cache, 'native'),
  ];
  const named = (['blas', 'tensorflow', 'gpu', 'webgpu'] as const).filter((name) => options[name]);
  const chosen = (named.length === 0 ? ['blas', 'tensorflow'] : named).map((name) => `--${name}`);
  const child = spawn(nodeBinary(), [...nodeFlags, setUpEntry, ...folders, ...chosen], {
    stdio: 'inherit',
    windowsHide: true,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) return exitCodes.failed;
  if (chosen.includes('--blas')) console.error(await compareBlas());
  return exitCodes.finished;
}
