import { existsSync, readFileSync } from 'node:fs';
// Not by name: Node 20, on which users' own scripts may import the library, has no such hooks.
import nodeModule from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isModuleSyntax, loadedModules } from './own-copies.ts';

/**
 * From now on, scripts of a project are those of a copy, under their own addresses: `import.meta.dirname`, data files
 * and packages are the project's. A script that the copy lacks is not found.
 */
export function mountSources(projectFolder: string, copy: string): void {
  const copyOf = (url: string): string | null => {
    if (!url.startsWith('file:')) return null;
    const path = relative(projectFolder, fileURLToPath(url));
    const isScript = !path.startsWith('..') && !path.split(sep).includes('node_modules') && /\.[cm]?[jt]s$/.test(path);
    const kept = join(copy, path);
    return isScript && existsSync(kept) ? kept : null;
  };
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      // The project's folder may no longer have the script.
      const url = addressOf(specifier, context.parentURL);
      const kept = url === null ? null : copyOf(url);
      if (url === null || kept === null) return next(specifier, context);
      return { url, format: formatOf(kept), shortCircuit: true };
    },
    load(url, context, next) {
      const kept = copyOf(url);
      if (kept === null) return next(url, context);
      loadedModules.add(fileURLToPath(url));
      return { format: formatOf(kept), source: readFileSync(kept, 'utf8'), shortCircuit: true };
    },
  });
}

function addressOf(specifier: string, parent: string | undefined): string | null {
  if (specifier.startsWith('file:')) return specifier;
  const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
  if (isRelative && parent?.startsWith('file:')) return new URL(specifier, parent).href;
  return specifier.startsWith('/') ? pathToFileURL(specifier).href : null;
}

/** By the ending; `.ts` and `.js` are ES modules where they import or export. */
function formatOf(path: string): string {
  const isTyped = path.endsWith('ts');
  const isCommon = /\.c[jt]s$/.test(path) || (/\.[jt]s$/.test(path) && !isModuleSyntax(readFileSync(path, 'utf8')));
  return `${isCommon ? 'commonjs' : 'module'}${isTyped ? '-typescript' : ''}`;
}
