import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tutti } from '../../core/text/program.ts';
import { webgpuFolderVariable } from '../../core/protocol/machine/devices.ts';
import { listAdapters, loadDawn } from '../backends/webgpu/dawn.ts';
import { type Note, replaceFolder, type SetupFolders, tryBackend } from './folder.ts';
import { unpackPackages, webgpuPackages, webgpuVersions } from './packages.ts';

/** The systems for which Dawn is published, in its notation. */
const systems = ['darwin-universal', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/** Sets up the `webgpu` backend from packages of the npm registry. */
export async function setUpWebgpu(folders: SetupFolders, note: Note): Promise<void> {
  const { webgpu: folder, archives } = folders;
  const packages = webgpuPackages(dawnSystem());
  await replaceFolder(folder, async (aside) => {
    note(`Fetching ${packages.map(({ name }) => name).join(' and ')}`);
    await unpackPackages(packages, aside, archives);
    await writeFile(join(aside, 'build.json'), `${JSON.stringify(webgpuVersions, null, 2)}\n`);
    // A missing GPU is no error, since it can be added later; a library that does not load is one.
    const adapters = await listAdapters(await loadDawn(aside));
    const hasGpu = adapters.some(({ isSoftware }) => !isSoftware);
    note(hasGpu ? `Tried: ${await tryBackend('webgpu', { [webgpuFolderVariable]: aside })}` : noGpu);
  });
  await rm(archives, { recursive: true, force: true });
  note(`Ready in ${folder}. Train with --backend webgpu.`);
}

const noGpu = `Dawn loads, but finds no GPU: ${tutti} devices says what is missing.`;

/** @throws Error if Dawn is not published for this system */
function dawnSystem(): string {
  const system = process.platform === 'darwin' ? 'darwin-universal' : `${process.platform}-${process.arch}`;
  if (systems.includes(system)) return system;
  throw new Error(
    `WebGPU cannot be set up on ${process.platform} ${process.arch}, only on ${systems.join(', ')}. The wasm ` +
      'backend needs no setup.',
  );
}
