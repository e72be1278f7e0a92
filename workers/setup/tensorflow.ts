import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NativeBuild, nativeFolderVariable } from '../../core/protocol/machine/native-build.ts';
import { bindingFile, checkCompiler, compileBinding } from './compile.ts';
import { type Note, replaceFolder, type SetupFolders, tryBackend } from './folder.ts';
import { downloadWheel } from './package-index.ts';
import { tfjsNodePackages, tfjsNodeVersion, unpackPackages } from './packages.ts';
import { unpackZip } from './unpack.ts';
import { tensorflowVersion, type Wheel, wheelsFor } from './wheels.ts';

/**
 * Sets up the `tensorflow` backend. Downloads TensorFlow's libraries from the Python Package Index, without Python, and compiles tfjs-node's
 * binding from its sources.
 */
export async function setUpTensorflow(folders: SetupFolders, hasCuda: boolean, note: Note): Promise<void> {
  const wheels = wheelsFor(hasCuda);
  await checkCompiler();
  const { tensorflow: folder, archives } = folders;
  await replaceFolder(folder, async (aside) => {
    for (const wheel of wheels) await addWheel(wheel, archives, aside, note);
    note('tfjs-node: fetching and compiling its binding');
    await unpackPackages(tfjsNodePackages, join(aside, 'tfjs-node'), archives);
    await compileBinding(aside);
    await rm(join(aside, 'tensorflow', 'include'), { recursive: true });
    await describeBuild(aside, wheels, hasCuda);
    note(`Tried: ${await tryBackend('tensorflow', { [nativeFolderVariable]: aside })}`);
  });
  await rm(archives, { recursive: true, force: true });
  note(`Ready in ${folder}. Train with --backend tensorflow.`);
}

async function addWheel(wheel: Wheel, archives: string, folder: string, note: Note): Promise<void> {
  const archive = await downloadWheel(wheel, archives, note);
  const count = await unpackZip(archive, folder, wantedPath);
  if (count === 0) throw new Error(`${wheel.name} holds no library: its layout is not the expected one.`);
}

/** Chooses the libraries and the files that the binding is compiled against, without Python's files. */
function wantedPath(name: string): string | null {
  const isLibrary =
    /^tensorflow\/libtensorflow_(cc|framework)\.so\.2$/.test(name) || /^nvidia\/.+\/lib\/.+\.so/.test(name);
  const isHeader = /^tensorflow\/include\/(tensorflow\/(c|core\/platform)|tsl|xla\/tsl)\//.test(name);
  // XLA compiles kernels for the GPU with these.
  const isCompiler = /^nvidia\/cuda_nvcc\/(bin|nvvm)\//.test(name);
  return isLibrary || isHeader || isCompiler ? name : null;
}

async function describeBuild(folder: string, wheels: readonly Wheel[], hasCuda: boolean): Promise<void> {
  const libraries = wheels
    .map(({ project }) => /^nvidia-(.+)-cu12$/.exec(project)?.[1])
    .filter((name) => name !== undefined);
  const build: NativeBuild = {
    tensorflow: tensorflowVersion,
    tfjsNode: tfjsNodeVersion,
    hasCuda,
    binding: bindingFile,
    libraryFolders: libraries.map((name) => join('nvidia', name.replaceAll('-', '_'), 'lib')),
  };
  await writeFile(join(folder, 'build.json'), `${JSON.stringify(build, null, 2)}\n`);
}
