import { basename, join } from 'node:path';
import { editDistance } from '../../../core/options/suggest.ts';
import {
  type SplitAnswer,
  splitAnswers,
  type SplitName,
  splitOf,
  usualSplitNames,
} from '../../../core/preprocessing/split-column.ts';
import { noteData } from '../notes.ts';
import { entriesOf, isImage } from './image-files.ts';

/** Names of the subfolders that hold the splits; false: every subfolder is a class. */
export type SplitFolders = false | { train: string; validation?: string; test?: string };

/** Paths of the folders of the splits. */
export type FoundSplits = Exclude<SplitFolders, false>;

/** The split whose usual name is nearly this one: `tests`, `validate`, `trainning`, `train_v2`; null: none is. */
function nearSplitOf(name: string): SplitName | null {
  const word = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const near = Object.entries(usualSplitNames).find(([usual]) => {
    const edits = usual.length < 4 ? 0 : usual.length < 7 ? 1 : 2;
    return editDistance(word, usual) <= edits || (usual.length > 3 && word.startsWith(usual));
  });
  return near?.[1] ?? (/^(eval|hold|held)/.test(word) ? 'validation' : null);
}

/**
 * The folders of the splits in `outer`; only that of the training images where its subfolders are classes. What was
 * recognised is noted.
 * @throws Error where both readings are possible
 */
export async function findSplitFolders(outer: string, wanted: SplitFolders | undefined): Promise<FoundSplits> {
  if (wanted === false) return { train: outer };
  if (wanted !== undefined) return namedSplits(outer, (await entriesOf(outer)).folders, wanted);
  const { found, doubts, note } = await recogniseSplits(outer, {});
  const doubt = doubts.find(({ choices }) => choices[0] !== 'none');
  if (doubt !== undefined) throw new Error(`${doubt.fact} ${remedyFor(doubt.folder)}`);
  if (note !== null) noteData(note);
  return found;
}

/**
 * The value of a column for each split.
 * @param answers what values are, by their texts
 * @throws Error where none is the training split, or two are the same one
 */
export function splitsOfValues(
  column: string,
  values: readonly string[],
  answers: Readonly<Record<string, SplitAnswer>>,
): { found: Partial<Record<SplitName, string>>; doubts: SplitDoubt[] } {
  const entries = values.map((name) => {
    const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
    if (answer !== undefined) return { name, split: answer === 'none' ? null : answer, isSure: true };
    const usual = splitOf(name);
    return { name, split: usual ?? nearSplitOf(name), isSure: usual !== null };
  });
  const doubts = entries
    .filter(({ isSure }) => !isSure)
    .map((own) =>
      doubtAbout(own, `${JSON.stringify(own.name)} in ${JSON.stringify(column)} is no usual name of a split.`),
    );
  const splits = entries.filter(({ split }) => split !== null);
  const twice = splits.find((own, i) => splits.findIndex(({ split }) => split === own.split) !== i);
  const isTrained = splits.some(({ split }) => split === 'train');
  if (doubts.length === 0 && (twice !== undefined || !isTrained)) {
    const fact =
      twice === undefined
        ? `No value of ${JSON.stringify(column)} is that of the training split.`
        : `Several values of ${JSON.stringify(column)} mean the ${twice.split} split.`;
    throw new Error(
      `${fact} Say what they are, such as --split-folder ${values[0]}=train, or =none: ${listed(values)}.`,
    );
  }
  return { found: Object.fromEntries(splits.map(({ split, name }) => [split, name])), doubts };
}

/** A folder that may be a split or none. */
export interface SplitDoubt {
  folder: string;
  fact: string;
  /** What it may be; the first is assumed. */
  choices: SplitAnswer[];
}

interface RecognisedSplits {
  found: FoundSplits;
  /** Open questions; empty where all is clear. */
  doubts: SplitDoubt[];
  note: string | null;
}

/**
 * Tells splits from classes. Folders are splits where one is called `train` or alike and has subfolders of its own, and
 * the others are splits too: a class may also be called "train". Archives often hold a folder in a folder
 * (`seg_train/seg_train`): the inner one counts.
 * @param answers what folders are, by their names
 * @throws Error where no answer can help
 */
export async function recogniseSplits(
  outer: string,
  answers: Readonly<Record<string, SplitAnswer>>,
): Promise<RecognisedSplits> {
  const folder = await innerOf(outer);
  const { folders: names } = await entriesOf(folder);
  requireFolders(folder, names, Object.keys(answers), 'is to be a split or none');
  const entries = withoutUnlabelled(await Promise.all(names.map((name) => partsOf(folder, name, answers))));
  const trains = entries.filter(({ split }) => split === 'train');
  const others = entries.filter(({ split }) => split === null);
  const isSaid = trains.some(({ answer }) => answer === 'train');
  if (trains.length === 0 || (others.length > 0 && !isSaid && !trains.some(hasOnlyClasses))) {
    if (trains.length === 0 && entries.every(({ answer }) => answer) && entries.some(({ split }) => split)) {
      throw new Error(`No folder of ${folder} is to be the training split. ${remedyFor(names[0])}`);
    }
    return { found: { train: folder }, doubts: alikeAmongClasses(entries), note: likenessNote(folder, entries) };
  }
  if (!trains.some(({ folders }) => folders.length > 0)) {
    throw new Error(
      `${join(folder, trains[0].name)} has no subfolders, and its name is that of a split: put the images of each ` +
        `class into a subfolder. ${remedyFor(trains[0].name)}`,
    );
  }
  const doubts = doubtsOf(folder, entries);
  const splits = entries.filter(({ split }) => split !== null);
  const found = Object.fromEntries(splits.map(({ split, name }) => [split, name])) as unknown as FoundSplits;
  return { found: await namedSplits(folder, names, found), doubts, note: splitsNote(folder, splits, others) };
}

/** A folder such as `test` that has images alone is of no use beside training images with classes: it has no labels. */
function withoutUnlabelled(entries: readonly Parts[]): Parts[] {
  const isLabelled = entries.some((own) => own.split === 'train' && hasOnlyClasses(own));
  return entries.map((own) => {
    const { split, folders, hasImages, answer } = own;
    const isUnlabelled = isLabelled && split !== null && answer === undefined && folders.length === 0 && hasImages;
    return isUnlabelled ? { ...own, split: null, isUnlabelled } : own;
  });
}

/** What remains to be asked about folders of which one is the training split. */
function doubtsOf(folder: string, entries: readonly Parts[]): SplitDoubt[] {
  const open = entries.filter(({ answer }) => answer === undefined);
  const twice = entries.filter(({ split }) => split && entries.filter((own) => own.split === split).length > 1);
  if (twice.length > 0 && twice.every(({ answer }) => answer)) {
    throw new Error(`${namesOf(twice)} are all to be the ${twice[0].split} split. Choose one of them.`);
  }
  const near = open.filter(({ isNear }) => isNear);
  const trains = entries.filter(({ split }) => split === 'train');
  const others = entries.filter(({ split }) => split === null);
  const hasHeldOut = entries.some((own) => own.split !== null && own.split !== 'train' && hasOnlyClasses(own));
  const isBeside = trains.some(({ answer }) => !answer) && others.some((own) => !own.isUnlabelled) && !hasHeldOut;
  const alike = others.filter((own) => !own.answer && trains.some((train) => haveSameClasses([own, train])));
  if (twice.length > 0) {
    const fact = `${folder} has ${namesOf(twice)}, which all mean the ${twice[0].split} split.`;
    return twice.filter(({ answer }) => !answer).map((own) => doubtAbout(own, fact));
  }
  if (near.length > 0) return near.map((own) => doubtAbout(own, `${own.name} is nearly the usual name of a split.`));
  if (isBeside) {
    const fact = `${folder} has ${namesOf(trains)}, which looks like a split, beside ${namesOf(others)}.`;
    return [doubtAbout(trains[0], fact)];
  }
  return alike.map((own) => doubtAbout(own, `${own.name} has the same subfolders as ${trains[0].name}.`));
}

/** Two or three folders with the same subfolders may be splits whose names are in another language. */
function alikeAmongClasses(entries: readonly Parts[]): SplitDoubt[] {
  if (entries.length > 3 || !haveSameClasses(entries)) return [];
  const fact = `${namesOf(entries)} have the same subfolders (${listed(entries[0].folders)}).`;
  return entries.filter(({ answer }) => !answer).map((own) => doubtAbout(own, fact));
}

function doubtAbout({ name, split }: Pick<Parts, 'name' | 'split'>, fact: string): SplitDoubt {
  const assumed = split ?? 'none';
  return { folder: name, fact, choices: [assumed, ...splitAnswers.filter((own) => own !== assumed)] };
}

function remedyFor(train: string): string {
  return (
    `Name the splits with splitFolders: { train: '${train}', ... }, or set splitFolders: false if all are classes. ` +
    `On the command line: --split-folder ${train}=train, or =none.`
  );
}

async function namedSplits(folder: string, folders: readonly string[], wanted: FoundSplits): Promise<FoundSplits> {
  requireFolders(folder, folders, Object.values(wanted), 'splitFolders names');
  const found = Object.entries(wanted).map(
    async ([split, name]) => [split, await innerOf(join(folder, name))] as const,
  );
  return Object.fromEntries(await Promise.all(found)) as unknown as FoundSplits;
}

function requireFolders(folder: string, folders: readonly string[], wanted: readonly string[], why: string): void {
  // A name may be a path: seg_train/seg_train.
  const absent = wanted.find((name) => !folders.includes(name.split(/[\\/]/)[0]) && name !== '.');
  if (absent === undefined) return;
  throw new Error(`${folder} has no subfolder "${absent}", which ${why}. It has: ${listed(folders)}.`);
}

/** The folder itself, or the only one in it where that has the same name or several folders, and no images. */
async function innerOf(folder: string): Promise<string> {
  const { folders, files } = await entriesOf(folder);
  if (folders.length !== 1 || files.some(isImage)) return folder;
  const [name] = folders;
  const inner = join(folder, name);
  const { folders: within, files: beside } = await entriesOf(inner);
  const isCopy = name.toLowerCase() === basename(folder).toLowerCase() && within.length > 0;
  const isWrapped = within.length > 1 && splitOf(name) === null;
  if (!(isCopy || isWrapped) || beside.some(isImage)) return folder;
  noteData(`The folders of ${folder} are those of its only folder, ${name}.`);
  return inner;
}

/** A folder that may be a split or a class. */
interface Parts {
  name: string;
  /** Its subfolders. */
  folders: string[];
  hasImages: boolean;
  /** What the user says that it is. */
  answer: SplitAnswer | undefined;
  /** The split that it is or seems to be. */
  split: SplitName | null;
  /** Whether its name is only nearly that of a split. */
  isNear: boolean;
  /** Whether it is left out, because its images have no classes. */
  isUnlabelled: boolean;
}

async function partsOf(folder: string, name: string, answers: Readonly<Record<string, SplitAnswer>>): Promise<Parts> {
  const { folders, files } = await entriesOf(join(folder, name));
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
  const parts = { name, folders, hasImages: files.some(isImage), answer, isNear: false, isUnlabelled: false };
  if (answer !== undefined) return { ...parts, split: answer === 'none' ? null : answer };
  const split = splitOf(name, hasOnlyClasses(parts));
  if (split !== null || !hasOnlyClasses(parts)) return { ...parts, split };
  const near = nearSplitOf(name);
  return { ...parts, split: near, isNear: near !== null };
}

function hasOnlyClasses({ folders, hasImages }: Pick<Parts, 'folders' | 'hasImages'>): boolean {
  return folders.length > 0 && !hasImages;
}

function haveSameClasses(entries: readonly Parts[]): boolean {
  const [first, ...others] = entries.map(({ folders }) => folders.join('\n'));
  return first !== '' && others.length > 0 && others.every((own) => own === first);
}

function splitsNote(folder: string, splits: readonly Parts[], others: readonly Parts[]): string {
  const names = splits.map(({ split, name }) => `${name} (${split})`);
  const rest = others.length === 0 ? '' : `; ${namesOf(others)} ${others.length === 1 ? 'is' : 'are'} left out`;
  return `The splits of ${folder} are its folders ${names.join(', ')}${rest}.`;
}

function likenessNote(folder: string, entries: readonly Parts[]): string | null {
  if (!haveSameClasses(entries)) return null;
  const [{ name, folders }] = entries;
  return (
    `The classes of ${folder} are ${namesOf(entries)}. All have the same subfolders (${listed(folders)}): ` +
    `if these are the classes, name the splits with splitFolders: { train: '${name}', ... }.`
  );
}

const namesOf = (entries: readonly Parts[]): string => listed(entries.map(({ name }) => name));

function listed(names: readonly string[]): string {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ', ...' : '');
}
