import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { compileCache, homePaths } from './store/home.ts';
import { secureHome } from './store/private-home.ts';

/** What `tutti.mjs` imports on a Node that can run it. */

// The home is secured before anything in it runs.
await secureHome();
// Halves the time to start. Node never returns from making a cache in a file system that takes no folders, such as
// /proc: here and in the processes that this one starts. Whoever needs the home then says that it cannot be made.
if (existsSync(homePaths().cache)) enableCompileCache(compileCache());
else process.env.NODE_DISABLE_COMPILE_CACHE = '1';
await import('./cli.ts');
