import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Tutti's own folder: `TUTTI_HOME`, else `.tutti` in the user's home folder. Absolute; not created. */
export function tuttiHome(): string {
  return resolve(process.env.TUTTI_HOME || join(homedir(), '.tutti'));
}

/** Where things live in Tutti's own folder. */
export function homePaths(home: string = tuttiHome()) {
  return {
    runs: join(home, 'runs'),
    cache: join(home, 'cache'),
    index: join(home, 'index.sqlite'),
    /** Folders of runs kept elsewhere (`--out`), one a line: all that the index knows and `runs` does not show. */
    externalRuns: join(home, 'external-runs.txt'),
    /** Projects that were opened, beside the examples. */
    projects: join(home, 'projects.json'),
    /** What their cards say, as long as their sources stay as they are. */
    projectTitles: join(home, 'cache', 'project-titles.json'),
    /** TensorFlow's libraries, where `npm run setup:native` was run. */
    tensorflow: join(home, 'native', 'tensorflow'),
    /** Dawn and TensorFlow.js's kernels for it, where `npm run setup:native -- --webgpu` was run. */
    webgpu: join(home, 'native', 'webgpu'),
    /** Exports that pages asked for. */
    exports: join(home, 'exports'),
    /** Runs that were deleted a few seconds ago. */
    trash: join(home, 'trash'),
    /** Where the desktop app's window stood, and what its browser engine keeps. */
    window: join(home, 'window.json'),
    desktop: join(home, 'desktop'),
  };
}

/** Where workers look for data: `TUTTI_DATA` first if it is set, then the cache, where downloads go. */
export function dataFolders(): { lookup: string | null; cache: string } {
  const lookup = process.env.TUTTI_DATA;
  return { lookup: lookup ? resolve(lookup) : null, cache: homePaths().cache };
}

/** Where compiled code is kept across processes; the user's own choice goes before. */
export function compileCache(): string {
  return process.env.NODE_COMPILE_CACHE || join(homePaths().cache, 'compile');
}
