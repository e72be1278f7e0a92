import { findCircles } from './circles.ts';
import { findOtherOpenings } from './run-folders.ts';
import { readSources, resolveImport, type SourceFile } from './imports.ts';

/**
 * The layers: `src-main`, `src-renderer` and `workers` import `core` and never each other; `core` imports zod and
 * nothing else. Type imports count: a type that crosses is a dependency too.
 */
const layers = ['core', 'src-main', 'src-renderer', 'workers'];

/** Pure code that needs Node's modules: files, locks. The pages must not import it. */
const nodeFolder = 'core/node/';

/**
 * The folders of each layer, from the bottom to the top: a file imports its own folder and folders below it. Files in a
 * layer's root are on top. A folder inside a folder may have its own place.
 */
const order: Record<string, readonly string[]> = {
  core: [
    'text',
    'random',
    'compression',
    'numeric',
    'series',
    'tokens',
    'preprocessing',
    'protocol/machine',
    'launch',
    'options',
    'metrics',
    'protocol/wire',
    'safetensors',
    'studies',
    'postprocessing',
    'ensemble',
    'protocol/run',
    'discovery',
    'protocol/history',
    'protocol/studies',
    'protocol/pages',
    'node',
  ],
  'src-main': [
    'store',
    'store/runs',
    'store/metrics',
    'store/index',
    'processes',
    'trust',
    'devices',
    'backends',
    'relay',
    'nodes/secure',
    'attach/link',
    'attach/served',
    'runs',
    'runs/configuration',
    'runs/recording',
    'runs/workers',
    'runs/control',
    'runs/workers',
    'nodes',
    'attach',
    'runs/attempt',
    'placement',
    'export',
    'import',
    'calibration',
    'predictions',
    'creation',
    'hub',
    'campaigns',
    'discovery',
    'parts',
    'studies',
    'disk',
    'health',
    'built',
    'rpc/projects',
    'rpc/runs',
    'rpc/discoveries',
    'report',
    'rpc',
    'server',
    'serving',
    'cli',
    'start',
    'desktop',
  ],
  'src-renderer': [
    'client',
    'components/basic',
    'stores',
    'composables',
    'components/controls',
    'charts',
    'components',
    'views',
  ],
  workers: [
    'kernels',
    'system',
    'random',
    'tensorflow',
    'optimizers',
    'backends',
    'collectives',
    'data',
    'checkpoints',
    'plots',
    'segments',
    'member',
    'inference',
    'exchange',
    'layered',
    'onnx/format',
    'onnx/layers',
    'onnx',
    'pytorch/code',
    'pytorch/layers',
    'pytorch',
    'strategies',
    'callbacks',
    'training',
    'project',
    'postprocessing',
    'parts',
    'stacked',
    'session/preparation',
    'session',
    'setup',
    'entries',
  ],
};

/** Source files in one folder. With more, its name no longer says what each file is about. */
const maximumFiles = 20;
/** Each file here is a program, named by what it does. */
const folderOfPrograms = 'workers/entries';

/** The package imports itself by name: `tutti-ensembles` is the public library. */
const ownPackage = { name: 'tutti-ensembles', layer: 'workers' };

export type Violation = { file: string; line: number; message: string };

/**
 * Every import under `root` that violates the layers or the order of their folders, closes a circle or opens run
 * folders in another way, and every folder with too many files.
 */
export function findLayerViolations(root: string): Violation[] {
  const files = layers.flatMap((layer) => readSources(root, layer));
  const crossings = files.flatMap(({ file, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const message = explainViolation(file, specifier) ?? explainOrder(file, specifier);
      return message === null ? [] : [{ file, line, message }];
    }),
  );
  return [...crossings, ...explainCircles(files), ...explainFullFolders(files), ...findOtherOpenings(files)];
}

/** The rule and the remedy if `file` (relative to the root) may not import `specifier`, or null if it may. */
function explainViolation(file: string, specifier: string): string | null {
  const layer = layerOf(file);
  const target = targetOf(file, specifier);
  const needsNode = resolveImport(file, specifier)?.startsWith(nodeFolder) ?? false;
  if (needsNode && !file.startsWith(nodeFolder) && (layer === 'core' || layer === 'src-renderer')) {
    return `core/node imports Node's modules: ${layer} may not import "${specifier}". Only src-main and workers may.`;
  }
  if (layer === 'core') return target === 'core' ? null : explainCoreImport(file, specifier, target);
  if (target === layer || target === null || target === 'core' || target === 'package.json') return null;
  return `${layer} imports core and no other folder, not "${specifier}". Move what both need to core.`;
}

function explainCoreImport(file: string, specifier: string, target: string | null): string | null {
  if (target === null && /^zod(?:\/|$)/.test(specifier)) return null;
  if (target === null && file.startsWith(nodeFolder) && specifier.startsWith('node:')) return null;
  return `core imports only zod, not "${specifier}". Move what needs it to the layer that uses it.`;
}

/** The rule and the remedy if an import inside a layer goes up in the order of its folders, or null. */
function explainOrder(file: string, specifier: string): string | null {
  const target = resolveImport(file, specifier);
  const layer = layerOf(file);
  if (target === null || layerOf(target) !== layer) return null;
  const [from, to] = [placeOf(file), placeOf(target)];
  if (from === null)
    return `${file} lies in a folder that has no place in the order of ${layer}. Give it one in scripts/layers.ts.`;
  if (to === null || to <= from) return null;
  return `${nameOf(layer, from)} lies below ${nameOf(layer, to)} and must not import "${specifier}". Move the shared part down.`;
}

/** The file's place in the order of its layer, with the layer's root on top, or null for an unknown folder. */
function placeOf(file: string): number | null {
  const folders = order[layerOf(file)] ?? [];
  const inside = file.slice(layerOf(file).length + 1);
  if (!inside.includes('/')) return folders.length;
  const around = folders.filter((folder) => inside.startsWith(`${folder}/`)).sort((a, b) => a.length - b.length);
  return around.length === 0 ? null : folders.indexOf(around[around.length - 1]);
}

function nameOf(layer: string, place: number): string {
  const folder = order[layer]?.[place];
  return folder === undefined ? layer : `${layer}/${folder}`;
}

function explainCircles(files: readonly SourceFile[]): Violation[] {
  const graph = new Map(
    files.map(({ file, imports }) => [
      file,
      imports.map(({ specifier }) => resolveImport(file, specifier) ?? specifier),
    ]),
  );
  return findCircles(graph).map((circle) => {
    const [file = '', next = file] = circle;
    const found = files.find((source) => source.file === file);
    const line = found?.imports.find(({ specifier }) => resolveImport(file, specifier) === next)?.line ?? 1;
    return {
      file,
      line,
      message: `These files import each other in a circle: ${[...circle, file].join(' → ')}. Move what both sides need to a file below them.`,
    };
  });
}

function explainFullFolders(files: readonly SourceFile[]): Violation[] {
  const folders = Map.groupBy(files, ({ file }) => file.slice(0, file.lastIndexOf('/')));
  return [...folders]
    .filter(([folder, inside]) => inside.length > maximumFiles && folder !== folderOfPrograms)
    .map(([folder, inside]) => ({
      file: folder,
      line: 1,
      message: `${folder} holds ${inside.length} files, and a folder may hold ${maximumFiles}. Give each subject its own folder.`,
    }));
}

function layerOf(file: string): string {
  return file.split('/')[0] ?? '';
}

/** The top folder (or file) of the repository that an import reaches, or null for packages and Node's modules. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier === ownPackage.name || specifier.startsWith(`${ownPackage.name}/`)) return ownPackage.layer;
  const target = resolveImport(file, specifier);
  return target === null ? null : layerOf(target);
}
