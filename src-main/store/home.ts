import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Tutti's home: `TUTTI_HOME`, else `.tutti` in the user's home folder. Absolute; not created. */
export function tuttiHome(): string {
  return resolve(process.env.TUTTI_HOME || join(homedir(), '.tutti'));
}

/** The paths in Tutti's home. */
export function homePaths(home: string = tuttiHome()) {
  return {
    runs: join(home, 'runs'),
    /** Searches of `tutti discover`, a folder each, which holds its runs. */
    discoveries: join(home, 'discoveries'),
    /** Searches of hyperparameters, a folder each. */
    studies: join(home, 'studies'),
    cache: join(home, 'cache'),
    /** Downloaded data: the part of the cache that projects may write. */
    data: join(home, 'cache', 'data'),
    index: join(home, 'index.sqlite'),
    /** Saved comparisons of runs, a file each. */
    comparisons: join(home, 'comparisons'),
    /** The bytes of all runs above which the dashboard advises to clean up. */
    diskQuota: join(home, 'disk-quota.json'),
    /** Where the tasks of a launch on several nodes find the first one, a file each. */
    launches: join(home, 'launches'),
    /** Where runs that train can be reached from other machines, a file each. */
    reachable: join(home, 'reachable'),
    /** Runs that wait until others have ended. */
    queue: join(home, 'queue.json'),
    /** Folders of runs outside of `runs` (`--out`), one per line. */
    externalRuns: join(home, 'external-runs.txt'),
    /** Copies of the examples, for an app that is mounted at another place at each start. */
    examples: join(home, 'examples'),
    /** Projects that the user opened, in addition to the examples. */
    projects: join(home, 'projects.json'),
    /** When the user removed projects from the list, by folder. */
    forgottenProjects: join(home, 'forgotten-projects.json'),
    /** The folders whose code may run. */
    trust: join(home, 'trusted.json'),
    /** Hashes of the code with which trusted projects trained, one per line. */
    trainedSources: join(home, 'trained-sources.txt'),
    /** Titles of projects, valid until their sources change. */
    projectTitles: join(home, 'cache', 'project-titles.json'),
    /** TensorFlow's libraries, if `tutti setup` was run. */
    tensorflow: join(home, 'native', 'tensorflow'),
    /** Dawn and TensorFlow.js's kernels for it, if `tutti setup --webgpu` was run. */
    webgpu: join(home, 'native', 'webgpu'),
    /** OpenBLAS, if `tutti setup --blas` was run. */
    blas: join(home, 'native', 'blas'),
    /** Exports from pages. */
    exports: join(home, 'exports'),
    /** Sessions of browsers, and where `tutti dashboard --link` reaches a running server: two files for each port. */
    dashboard: join(home, 'dashboard'),
    /** Runs that were deleted a few seconds ago. */
    trash: join(home, 'trash'),
    /** Whether the desktop app looks for updates. */
    updates: join(home, 'updates.json'),
    /** Runs whose pages the desktop app has shown, for its menu. */
    recentDocuments: join(home, 'recent-documents.json'),
    /** The last position of the desktop app's window, and the data of its browser engine. */
    window: join(home, 'window.json'),
    desktop: join(home, 'desktop'),
  };
}

/**
 * The folders in which workers look for data: `TUTTI_DATA` if it is set, then the cache, which also takes downloads.
 */
export function dataFolders(): { lookup: string | null; cache: string } {
  const lookup = process.env.TUTTI_DATA;
  return { lookup: lookup ? resolve(lookup) : null, cache: homePaths().data };
}

/** The cache of compiled code for all processes. The user's own `NODE_COMPILE_CACHE` has priority. */
export function compileCache(): string {
  return process.env.NODE_COMPILE_CACHE || join(homePaths().cache, 'compile');
}
