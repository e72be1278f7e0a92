import { join } from 'node:path';
import { noteData } from '../notes.ts';
import { entriesOf, isImage } from './image-files.ts';

/** Names of the subfolders that hold the splits; false: every subfolder is a class. */
export type SplitFolders = false | { train: string; validation?: string; test?: string };

/** Paths of the folders of the splits. */
export type FoundSplits = Exclude<SplitFolders, false>;

const spellings: Readonly<Record<string, keyof FoundSplits>> = {
  train: 'train',
  training: 'train',
  validation: 'validation',
  valid: 'validation',
  val: 'validation',
  dev: 'validation',
  test: 'test',
  testing: 'test',
};

/** The split that a folder's name means: `Training`, `test_set`, `val-images`; null: it means none. */
function splitOf(name: string): keyof FoundSplits | null {
  const word = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  for (const own of [word, word.replace(/(set|data|images|split)$/, '')]) {
    if (Object.hasOwn(spellings, own)) return spellings[own];
  }
  return null;
}

/**
 * The folders of the splits in `folder`; null where its subfolders are classes. They are splits where one is called
 * `train` or alike and has subfolders of its own, and the others are splits too: a class may also be called "train".
 * What was recognised is noted.
 * @throws Error where both readings are possible
 */
export async function findSplitFolders(folder: string, wanted: SplitFolders | undefined): Promise<FoundSplits | null> {
  if (wanted === false) return null;
  const { folders } = await entriesOf(folder);
  if (wanted !== undefined) return namedSplits(folder, folders, wanted);
  const splits = folders.map(splitOf);
  const trains = folders.filter((_, i) => splits[i] === 'train');
  const others = folders.filter((_, i) => splits[i] === null);
  const parts = new Map(await Promise.all(folders.map(async (name) => [name, await partsOf(folder, name)] as const)));
  const hasOnlyClasses = (name: string) => parts.get(name)?.hasFolders === true && !parts.get(name)?.hasImages;
  if (trains.length === 0 || (others.length > 0 && !trains.some(hasOnlyClasses))) {
    noteLikeness(folder, folders, parts);
    return null;
  }
  const remedy =
    `Name the splits with splitFolders: { train: '${trains[0]}', ... }, or set splitFolders: false if all are ` +
    'classes.';
  if (!trains.some((name) => parts.get(name)?.hasFolders)) {
    throw new Error(
      `${join(folder, trains[0])} has no subfolders, and its name is that of a split: put the images of each ` +
        `class into a subfolder. ${remedy}`,
    );
  }
  const heldOut = folders.filter((name, i) => splits[i] !== null && splits[i] !== 'train' && hasOnlyClasses(name));
  if (others.length > 0 && heldOut.length === 0) {
    throw new Error(`${folder} has ${listed(trains)}, which looks like a split, beside ${listed(others)}. ${remedy}`);
  }
  const twice = splits.find((split, i) => split !== null && splits.indexOf(split) !== i);
  if (twice) {
    const same = folders.filter((_, i) => splits[i] === twice);
    throw new Error(`${folder} has ${listed(same)}, which all mean the ${twice} split. ${remedy}`);
  }
  const found = Object.fromEntries(folders.flatMap((name, i) => (splits[i] === null ? [] : [[splits[i], name]])));
  noteSplits(folder, found as FoundSplits, others);
  return namedSplits(folder, folders, found as FoundSplits);
}

function namedSplits(folder: string, folders: readonly string[], wanted: FoundSplits): FoundSplits {
  const absent = Object.values(wanted).find((name) => !folders.includes(name));
  if (absent !== undefined) {
    throw new Error(`${folder} has no subfolder "${absent}", which splitFolders names. It has: ${listed(folders)}.`);
  }
  return Object.fromEntries(
    Object.entries(wanted).map(([split, name]) => [split, join(folder, name)]),
  ) as unknown as FoundSplits;
}

interface Parts {
  folders: string[];
  hasFolders: boolean;
  hasImages: boolean;
}

async function partsOf(folder: string, name: string): Promise<Parts> {
  const { folders, files } = await entriesOf(join(folder, name));
  return { folders, hasFolders: folders.length > 0, hasImages: files.some(isImage) };
}

function noteSplits(folder: string, found: FoundSplits, others: readonly string[]): void {
  const names = Object.entries(found).map(([split, name]) => `${name} (${split})`);
  const rest = others.length === 0 ? '' : `; ${listed(others)} ${others.length === 1 ? 'is' : 'are'} left out`;
  noteData(`The splits of ${folder} are its folders ${names.join(', ')}${rest}.`);
}

/** Folders with the same subfolders may be splits whose names are in another language. */
function noteLikeness(folder: string, folders: readonly string[], parts: ReadonlyMap<string, Parts>): void {
  const [first, ...others] = folders.map((name) => parts.get(name)?.folders.join('\n') ?? '');
  if (others.length === 0 || first === '' || others.some((own) => own !== first)) return;
  noteData(
    `The classes of ${folder} are ${listed(folders)}. All have the same subfolders (${listed(first.split('\n'))}): ` +
      `if these are the classes, name the splits with splitFolders: { train: '${folders[0]}', ... }.`,
  );
}

function listed(names: readonly string[]): string {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ', ...' : '');
}
