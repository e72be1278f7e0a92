import { basename, join } from 'node:path';
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

/**
 * The split that a folder's name means: `Training`, `test_set`, `val-images`; null: it means none.
 * @param hasOnlyFolders whether it may be `seg_train` too; a class of images may have such a name
 */
function splitOf(name: string, hasOnlyFolders: boolean): keyof FoundSplits | null {
  const word = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const last = hasOnlyFolders
    ? (name
        .toLowerCase()
        .split(/[^a-z]+/)
        .at(-1) ?? '')
    : '';
  for (const own of [word, word.replace(/(set|data|images|split)$/, ''), last]) {
    if (Object.hasOwn(spellings, own)) return spellings[own];
  }
  return null;
}

/**
 * The folders of the splits in `outer`; only that of the training images where its subfolders are classes. They are
 * splits where one is called `train` or alike and has subfolders of its own, and the others are splits too: a class may
 * also be called "train". Archives often hold a folder in a folder (`seg_train/seg_train`): the inner one counts. What
 * was recognised is noted.
 * @throws Error where both readings are possible
 */
export async function findSplitFolders(outer: string, wanted: SplitFolders | undefined): Promise<FoundSplits> {
  if (wanted === false) return { train: outer };
  if (wanted !== undefined) return namedSplits(outer, (await entriesOf(outer)).folders, wanted);
  const folder = await innerOf(outer);
  const { folders } = await entriesOf(folder);
  const parts = new Map(await Promise.all(folders.map(async (name) => [name, await partsOf(folder, name)] as const)));
  const hasOnlyClasses = (name: string) => parts.get(name)?.hasFolders === true && !parts.get(name)?.hasImages;
  const splits = folders.map((name) => splitOf(name, hasOnlyClasses(name)));
  const trains = folders.filter((_, i) => splits[i] === 'train');
  const others = folders.filter((_, i) => splits[i] === null);
  if (trains.length === 0 || (others.length > 0 && !trains.some(hasOnlyClasses))) {
    noteLikeness(folder, folders, parts);
    return { train: folder };
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

async function namedSplits(folder: string, folders: readonly string[], wanted: FoundSplits): Promise<FoundSplits> {
  // A name may be a path: seg_train/seg_train.
  const absent = Object.values(wanted).find((name) => !folders.includes(name.split(/[\\/]/)[0]) && name !== '.');
  if (absent !== undefined) {
    throw new Error(`${folder} has no subfolder "${absent}", which splitFolders names. It has: ${listed(folders)}.`);
  }
  const found = Object.entries(wanted).map(
    async ([split, name]) => [split, await innerOf(join(folder, name))] as const,
  );
  return Object.fromEntries(await Promise.all(found)) as unknown as FoundSplits;
}

/** The folder itself, or the only one in it where that has the same name or several folders, and no images. */
async function innerOf(folder: string): Promise<string> {
  const { folders, files } = await entriesOf(folder);
  if (folders.length !== 1 || files.some(isImage)) return folder;
  const [name] = folders;
  const inner = join(folder, name);
  const { folders: within, files: beside } = await entriesOf(inner);
  const isCopy = name.toLowerCase() === basename(folder).toLowerCase() && within.length > 0;
  const isWrapped = within.length > 1 && splitOf(name, false) === null;
  if (!(isCopy || isWrapped) || beside.some(isImage)) return folder;
  noteData(`The folders of ${folder} are those of its only folder, ${name}.`);
  return inner;
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
