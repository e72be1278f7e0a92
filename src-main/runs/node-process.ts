import { fileURLToPath } from 'node:url';
import { homePaths } from '../store/home.ts';

/** Entries of the processes that the hub starts. They run on this Node, which runs TypeScript as it is. */
export const workerEntry = fileURLToPath(new URL('../../workers/worker.ts', import.meta.url));
export const describeEntry = fileURLToPath(new URL('../../workers/describe.ts', import.meta.url));

/** SQLite and type stripping are what Tutti is built on, and no news to its users. */
export const nodeFlags = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];

/** The environment of a child: compiled code is cached across processes, which halves the time to start one. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: `${homePaths().cache}/compile` };
}
