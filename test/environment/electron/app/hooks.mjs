/** Resolves `node:sqlite` to the stand-in beside this file. */
const sqlite = new URL('sqlite.cjs', import.meta.url).href;

export function resolve(specifier, context, next) {
  return specifier === 'node:sqlite'
    ? { url: sqlite, shortCircuit: true, format: 'commonjs' }
    : next(specifier, context);
}
