import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

/** Tutti's home of what `npm run test:setup` makes. Runs of the tests share it; `npm ci` removes it. */
export const testHome = join(repository, 'node_modules', '.cache', 'tutti');

/** The OpenBLAS of `npm run test:setup -- blas`. */
export const blasFolder = join(testHome, 'native', 'blas');
