import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type NativeBuild, nativeFolderVariable } from '../../core/protocol/machine/devices.ts';
import { type Note, replaceFolder, type SetupFolders, tryBackend } from './folder.ts';
import { tfjsNodePackages, tfjsNodeVersion, unpackPackages } from './packages.ts';
import { addWheel } from './fetch-wheel.ts';
import { tensorflowVersion, type Wheel, wheelsFor } from './wheels.ts';

/**
 * Sets up the `tensorflow` backend. Downloads TensorFlow's libraries from the Python Package Index, without Python, and
 * compiles tfjs-node's binding from its sources.
 */
export async function setUpTensorflow(folders: SetupFolders, hasCuda: boolean, note: Note): Promise<void> {
  const wheels = wheelsFor(hasCuda);
  await checkCompiler();
  const { tensorflow: folder, archives } = folders;
  await replaceFolder(folder, async (aside) => {
    for (const wheel of wheels) await addWheel(wheel, { archives, folder: aside, choose: wantedPath }, note);
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

const compiler = process.env.CXX ?? 'c++';

const bindingFile = 'tfjs_binding.node';

/** @throws Error if there is no C++ compiler */
async function checkCompiler(): Promise<void> {
  await promisify(execFile)(compiler, ['--version']).catch((cause: unknown) => {
    throw new Error(
      `There is no C++ compiler "${compiler}". Install one (on Debian and Ubuntu: apt install g++), or name it in CXX.`,
      { cause },
    );
  });
}

/**
 * Compiles tfjs-node's binding against the TensorFlow in `folder`, with the headers of the Node that runs this script.
 */
async function compileBinding(folder: string): Promise<void> {
  const sources = ['tfjs_backend.cc', 'tfjs_binding.cc'].map((name) => join(folder, 'tfjs-node', 'binding', name));
  const includes = [nodeHeaders(), join(folder, 'tensorflow', 'include'), join(folder, 'tfjs-node')];
  await promisify(execFile)(compiler, [
    '-O2',
    '-std=c++17',
    '-shared',
    '-fPIC',
    '-DNAPI_VERSION=8',
    ...includes.map((path) => `-I${path}`),
    ...sources,
    `-L${join(folder, 'tensorflow')}`,
    '-l:libtensorflow_cc.so.2',
    '-l:libtensorflow_framework.so.2',
    // The loader finds the libraries relative to the binding, so that the folder can be moved.
    '-Wl,-rpath,$ORIGIN/tensorflow',
    '-o',
    join(folder, bindingFile),
  ]);
}

function nodeHeaders(): string {
  const folder = join(dirname(process.execPath), '..', 'include', 'node');
  if (existsSync(join(folder, 'node_api.h'))) return folder;
  throw new Error(
    `This Node (${process.execPath}) came without its headers in ${folder}. Start \`tutti setup\` with the ` +
      "Node that Tutti's package brings along.",
  );
}
