import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

/** Entries of the main process, by their names in the package's `src-main/bundle`. */
const mainEntries = { begin: 'src-main/begin.ts', detached: 'src-main/detached.ts' };

/** Programs of workers, and the library, by their names in the package's `workers/entries`. */
const workerEntries = [
  'combine',
  'confine',
  'describe',
  'draw-molecules',
  'calibrate',
  'evaluate',
  'fingerprint',
  'guard',
  'inspect',
  'kernel-thread',
  'list-adapters',
  'map-pool',
  'measure-workers',
  'predict',
  'probe-backend',
  'probe-mpi',
  'read-pool',
  'serve',
  'set-up',
  'try-backend',
  'worker',
  'write-ensemble',
  'write-layers',
];

/**
 * Compiles Tutti's own modules to JavaScript: few files, which start in less time than hundreds. Packages stay imports.
 * All entries of workers share their modules, so that a project's `import 'tutti-ensembles'` gets the worker's.
 * @param root the repository
 * @param folder the package
 */
export async function bundlePrograms(root: string, folder: string): Promise<void> {
  await bundle(root, join(folder, 'src-main', 'bundle'), mainEntries);
  await writeFile(join(folder, 'src-main', 'detached.js'), "import './bundle/detached.js';\n");
  const launcher = await readFile(join(root, 'src-main', 'tutti.mjs'), 'utf8');
  await writeFile(join(folder, 'src-main', 'tutti.mjs'), replaceOnce(launcher, './begin.ts', './bundle/begin.js'), {
    mode: 0o755,
  });
  await bundleWorkers(root, folder);
  await bundleForBrowsers(root, join(folder, 'workers', 'inference'));
}

/** Compiles the programs of workers, and the library that projects import. @param folder the package */
export async function bundleWorkers(root: string, folder: string): Promise<void> {
  const workers = join(folder, 'workers');
  await bundle(root, join(workers, 'entries'), {
    ...Object.fromEntries(workerEntries.map((name) => [name, `workers/entries/${name}.ts`])),
    library: 'workers/index.ts',
    'tf-module': 'workers/tensorflow/tf-module.ts',
  });
  await mkdir(join(workers, 'tensorflow'), { recursive: true });
  await writeFile(join(workers, 'index.js'), "export * from './entries/library.js';\n");
  await writeFile(join(workers, 'tensorflow', 'tf-module.js'), "export * from '../entries/tf-module.js';\n");
}

async function bundle(root: string, outDir: string, input: Record<string, string>): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { external: true },
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: false,
      minify: false,
      rollupOptions: { input, output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' } },
    },
  });
}

/**
 * One file without imports: TensorFlow.js with its cpu backend, and what opens an exported ensemble.
 * @returns its path
 */
export async function bundleForBrowsers(root: string, outDir: string): Promise<string> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    // Their ES modules are constants, which Tutti's corrections of layers could not replace.
    resolve: {
      alias: ['core', 'layers', 'backend-cpu'].map((name) => ({
        find: new RegExp(`^@tensorflow/tfjs-${name}$`),
        replacement: join(root, `node_modules/@tensorflow/tfjs-${name}/dist/tf-${name}.es2017.js`),
      })),
    },
    build: {
      target: 'es2023',
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      lib: { entry: join(root, 'workers/inference/browser.ts'), formats: ['es'], fileName: () => 'browser.js' },
    },
  });
  return join(outDir, 'browser.js');
}

function replaceOnce(text: string, part: string, by: string): string {
  if (text.split(part).length !== 2) throw new Error(`The launcher must name ${part} once.`);
  return text.replace(part, by);
}
