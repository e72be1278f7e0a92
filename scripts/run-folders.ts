import { resolveImport, type SourceFile } from './imports.ts';
import type { Violation } from './layers.ts';

/**
 * The hub opens, lists, writes and removes what lies in a run's folder only by `core/node/own-files.ts` and
 * `own-folders.ts`, which follow no link and wait for no pipe: a project or a stranger may have planted one. Files of
 * these folders get run folders, so they may not use other ways, unless they are listed as an exception.
 */
const foldersWithRuns = [
  'attach',
  'calibration',
  'disk',
  'export',
  'hub',
  'import',
  'parts',
  'predictions',
  'report',
  'rpc/runs',
  'runs',
  'store',
];

/** What tells of a file, or acts on its name, without opening it. */
const harmless = new Set([
  'constants',
  'existsSync',
  'link',
  'lstat',
  'realpath',
  'realpathSync',
  'rename',
  'rmdir',
  'stat',
  'statfs',
  'watch',
]);
/** They act on names in a folder, or on entries that are no links. */
const ofNames = new Set([
  'ASIDE_ENDING',
  'DELETED_ENDING',
  'linkExclusively',
  'removeAsides',
  'renameFlushed',
  'renameOver',
]);
const openers: Record<string, (name: string) => boolean> = {
  'node:fs': (name) => !harmless.has(name),
  'node:fs/promises': (name) => !harmless.has(name),
  'core/node/atomic-file.ts': (name) => !ofNames.has(name),
  'core/node/make-folder.ts': (name) => name !== 'flushFolder',
};

/** By the reason why they may open files themselves. */
const exceptions: Record<string, readonly string[]> = {
  "They open files of Tutti's home, which no project can write.": [
    'src-main/attach/served/access-file.ts',
    'src-main/rpc/runs/disk-service.ts',
    'src-main/runs/configuration/kept-code.ts',
    'src-main/runs/control/control-socket.ts',
    'src-main/runs/control/remote-control.ts',
    'src-main/store/index/folder-scan.ts',
    'src-main/store/index/index-database.ts',
    'src-main/store/private-home.ts',
    'src-main/store/runs/known-folders.ts',
  ],
  'They use temporary folders that they made, with new names.': [
    'src-main/export/run-entries.ts',
    'src-main/export/run-entries.ts',
    'src-main/import/import-run.ts',
    'src-main/import/unpack-run.ts',
    'src-main/predictions/predict-run.ts',
    'src-main/rpc/runs/imports.ts',
    'src-main/rpc/runs/new-samples.ts',
    'src-main/rpc/runs/uploads.ts',
    'src-main/runs/workers/scratch.ts',
  ],
  'They write where the user said, and read pages of Tutti.': [
    'src-main/export/sinks.ts',
    'src-main/report/write-report.ts',
  ],
  'They make the folder of a new run, or remove it as a whole.': [
    'src-main/parts/combine-runs.ts',
    'src-main/rpc/runs/trash.ts',
    'src-main/runs/workers/worker-host.ts',
    'src-main/store/runs/run-folder.ts',
  ],
  'It reads what a listing calls files, no links, and their hash decides what they are.': [
    'src-main/runs/configuration/project-source.ts',
  ],
};

const excepted = new Set(Object.values(exceptions).flat());

/**
 * Every import by which a file that gets run folders could open what lies in one in another way, and every exception
 * that is none any more.
 */
export function findOtherOpenings(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ file }) => getsRunFolders(file))
    .flatMap((source) => {
      const openings = openingsIn(source);
      if (!excepted.has(source.file)) return openings;
      const message = 'It opens no files itself, so it needs no exception in scripts/run-folders.ts.';
      return openings.length === 0 ? [{ file: source.file, line: 1, message }] : [];
    });
}

function openingsIn({ file, imports }: SourceFile): Violation[] {
  return imports.flatMap(({ specifier, line, names }) => {
    const opener = openers[resolveImport(file, specifier) ?? specifier];
    const opening = opener === undefined ? [] : names.filter(opener);
    if (opening.length === 0) return [];
    const message =
      `${opening.join(', ')} of "${specifier}" would follow links that were planted in a run's folder. ` +
      'Use core/node/own-files.ts or own-folders.ts, or give the file its reason in scripts/run-folders.ts.';
    return [{ file, line, message }];
  });
}

function getsRunFolders(file: string): boolean {
  return foldersWithRuns.some((folder) => file.startsWith(`src-main/${folder}/`));
}
