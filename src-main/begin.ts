import { enableCompileCache } from 'node:module';
import { compileCache } from './store/home.ts';
import { secureHome } from './store/private-home.ts';

/** What `tutti.mjs` imports on a Node that can run it. */

// Before anything in it runs.
await secureHome();
// Halves the time to start. Where it cannot be written, that is all that is lost.
enableCompileCache(compileCache());
await import('./cli.ts');
