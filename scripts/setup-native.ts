import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type NativeBuild, nativeFolderVariable } from '../protocol/native-build.ts';
import { homePaths } from '../src-main/store/home.ts';
import { bindingFile, checkCompiler, compileBinding } from './native/compile.ts';
import { downloadWheel } from './native/package-index.ts';
import { tfjsNodeVersion, unpackPackages } from './native/packages.ts';
import { unpackZip } from './native/unpack.ts';
import { tensorflowVersion, type Wheel, wheelsFor } from './native/wheels.ts';

/**
 * `npm run setup:native [-- --gpu]`: sets up the `tensorflow` backend in Tutti's home. TensorFlow's libraries come from the Python Package
 * Index, without Python; tfjs-node's binding is compiled from its own sources. The result replaces an earlier one as a whole,
 * once it has computed something.
 */

const probe = join(import.meta.dirname, 'native', 'try-tensorflow.ts');

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { gpu: { type: 'boolean', default: false } } });
  const wheels = wheelsFor(values.gpu);
  await checkCompiler();
  const { tensorflow: folder, cache } = homePaths();
  const aside = `${folder}.part`;
  const archives = join(cache, 'native');
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  for (const wheel of wheels) await addWheel(wheel, archives, aside);
  note('tfjs-node: fetching and compiling its binding');
  await unpackPackages(join(aside, 'tfjs-node'), archives);
  await compileBinding(aside);
  await rm(join(aside, 'tensorflow', 'include'), { recursive: true });
  await describeBuild(aside, wheels, values.gpu);
  note(`Tried: ${await tryOut(aside)}`);
  await rm(folder, { recursive: true, force: true });
  await rename(aside, folder);
  await rm(archives, { recursive: true, force: true });
  note(`Ready in ${folder}. Train with --backend tensorflow.`);
}

async function addWheel(wheel: Wheel, archives: string, folder: string): Promise<void> {
  const archive = await downloadWheel(wheel, archives, note);
  const count = await unpackZip(archive, folder, wantedPath);
  if (count === 0) throw new Error(`${wheel.name} holds no library: it is laid out in another way than expected.`);
}

/** Libraries, and what the binding is compiled against; Python's files stay behind. */
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

async function tryOut(folder: string): Promise<string> {
  const env = { ...process.env, [nativeFolderVariable]: folder };
  const { stdout } = await promisify(execFile)(process.execPath, [probe], { env });
  return stdout.trim();
}

function note(text: string): void {
  console.error(text);
}

try {
  await main();
} catch (error) {
  console.error(`setup:native: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
