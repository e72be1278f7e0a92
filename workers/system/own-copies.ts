import { extname } from 'node:path';
import { readFileSync } from 'node:fs';
// Not by name: Node 20, on which users' own scripts may import the library, has no such hooks.
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const library = ownModule('index');

/** Packages that a project may import without installing them: it gets the worker's copies. */
const ownCopies = new Map([
  ['tutti-ensembles', library],
  // The library's name before it was a package: older projects import it.
  ['tutti', library],
  ['@tensorflow/tfjs', ownModule('tensorflow/tf-module')],
  ['@tensorflow/tfjs-core', import.meta.resolve('@tensorflow/tfjs-core')],
  ['@tensorflow/tfjs-layers', import.meta.resolve('@tensorflow/tfjs-layers')],
  ['zod', import.meta.resolve('zod')],
]);

/** Paths of the modules that this process has begun to load since then, without packages. */
export const loadedModules = new Set<string>();

let isShared = false;

/** From now on projects, and tfjs-node's kernels, import the TensorFlow.js of this process. */
export function shareOwnCopies(): void {
  if (isShared) return;
  isShared = true;
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const url = ownCopies.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
    load(url, context, next) {
      if (url.startsWith('file:') && !url.includes('/node_modules/')) loadedModules.add(fileURLToPath(url));
      return next(url, { ...context, format: formatOf(url, context.format) });
    },
  });
}

/** `npm init` declares all modules of a folder CommonJS, also those that users then write with `import`. */
const asModules: Record<string, string> = { commonjs: 'module', 'commonjs-typescript': 'module-typescript' };

/**
 * The format of a project's module: as declared, unless a module declared as CommonJS imports or exports like an ES
 * module.
 */
function formatOf(url: string, declared: string | null | undefined): string | null | undefined {
  const format = asModules[declared ?? ''];
  if (format === undefined || !/^file:.*\.[jt]s$/.test(url) || url.includes('/node_modules/')) return declared;
  return isModuleSyntax(readFileSync(fileURLToPath(url), 'utf8')) ? format : declared;
}

/** Whether a line begins with an import or export declaration, outside of comments and templates. */
export function isModuleSyntax(source: string): boolean {
  const code = source.replaceAll(/\/\*[^]*?\*\/|`(\\[^]|[^`\\])*`/g, '');
  return /^[ \t]*(import\b\s*[\w$*{'"]|export\b\s*[\w$*{])/m.test(code);
}

/**
 * The address of a file of this folder `workers`, by its path in it. This module lies two folders below Tutti's own
 * folder, in the sources as in the package, where all modules lie in `workers/entries`.
 */
export function ownFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The address of a module, by its path without extension: TypeScript in the sources, JavaScript in the package. */
export function ownModule(path: string): string {
  return ownFile(path + extname(import.meta.url)).href;
}
