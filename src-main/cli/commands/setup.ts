import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nodeBinary, nodeFlags, setUpEntry } from '../../processes/node-process.ts';
import { homePaths } from '../../store/home.ts';
import { exitCodes } from '../errors.ts';

export interface SetupOptions {
  gpu?: boolean;
  webgpu?: boolean;
}

/**
 * `tutti setup`: downloads and compiles a backend that npm does not install, into Tutti's home.
 * @returns the exit code
 */
export async function setUp({ gpu = false, webgpu = false }: SetupOptions): Promise<number> {
  const { tensorflow, webgpu: webgpuFolder, cache } = homePaths();
  const folders = [
    '--tensorflow-folder',
    tensorflow,
    '--webgpu-folder',
    webgpuFolder,
    '--archives',
    join(cache, 'native'),
  ];
  const chosen = [...(gpu ? ['--gpu'] : []), ...(webgpu ? ['--webgpu'] : [])];
  const child = spawn(nodeBinary(), [...nodeFlags, setUpEntry, ...folders, ...chosen], {
    stdio: 'inherit',
    windowsHide: true,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0 ? exitCodes.finished : exitCodes.failed;
}
