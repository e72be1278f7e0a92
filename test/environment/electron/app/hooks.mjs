/** Resolves `node:sqlite` to the stand-in beside this file. */
let sqlite;

export function initialize({ main }) {
  sqlite = new URL(`sqlite.mjs?app=${encodeURIComponent(main)}`, import.meta.url).href;
}

export function resolve(specifier, context, next) {
  return specifier === 'node:sqlite' ? { url: sqlite, shortCircuit: true, format: 'module' } : next(specifier, context);
}
