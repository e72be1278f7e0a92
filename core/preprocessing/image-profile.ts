import { z } from 'zod';
import { formatBytes, formatCount } from '../text/numbers.ts';
import { printableLine } from '../text/printable.ts';
import { byLevel, type Finding, findingSchema, tableProfileSchema } from './profile.ts';
import { type SplitName, splitNames } from './split-column.ts';

/** What is in a folder of images: its splits and classes, what the images have, and what is left out. */

const count = z.int().min(0);
const counts = z.record(z.string(), count);
const size = z.tuple([z.int(), z.int()]).describe('height and width in pixels, upright');

const rowProblemSchema = z.strictObject({
  /**
   * `empty`: no name or no target. `missing`: the image is not there. `ambiguous`: several images have the name.
   * `contradictory`: another row names the image with other values. `doubled`: another row says the same.
   */
  reason: z.enum(['empty', 'missing', 'ambiguous', 'contradictory', 'doubled']),
  /** Number of rows. */
  count,
  /** The first ones: `"a.png" in row 3`. */
  examples: z.array(z.string()),
});
/** Rows of a table of images that are no samples. */
export type RowProblem = z.output<typeof rowProblemSchema>;

const imageTableSchema = z.strictObject({
  /** Without findings: those that matter are among those of the images. */
  profile: tableProfileSchema,
  /** The column that names the images. */
  column: z.string(),
  /** The column that gives the splits; null: none does. */
  splitColumn: z.string().nullable(),
  /** Folders with the images, below the folder of all of them; `.`: that folder itself. */
  folders: z.array(z.string()),
  problems: z.array(rowProblemSchema),
});
/** A table of which each row names an image. */
export type ImageTable = z.output<typeof imageTableSchema>;

export const imageProfileSchema = z.strictObject({
  kind: z.literal('images'),
  /** The folder's name; that of a project's copy, `images`, where images lie beside their table. */
  folder: z.string(),
  /** The table that names the images; null: folders are their classes. */
  table: imageTableSchema.nullable(),
  /** Size of the images that are read. */
  bytes: count,
  /**
   * The splits that folders hold; only `train`, in the folder `.`, where the subfolders are classes. Of a table, the
   * values of its column of splits, `.` without one.
   */
  splits: z.array(z.strictObject({ split: z.enum(splitNames), folder: z.string(), images: count })),
  /** The classes in natural order, with the images of each split; none where a table's target holds values. */
  classes: z.array(z.strictObject({ name: z.string(), train: count, validation: count, test: count })),
  /** Null where no image can be read. */
  sizes: z
    .strictObject({ smallest: size, median: size, largest: size, distinct: count.describe('different sizes') })
    .nullable(),
  /** Images by what the bytes are, whatever the ending: `png`, `jpeg`, `webp`, `tiff`. */
  formats: counts,
  /** Images by their channels, alpha included. */
  channels: counts,
  /** Images by the type of a value: `uchar` has 8 bits, `ushort` 16. */
  depths: counts,
  /** The value that becomes 255 in images of more than 8 bits, as the user says; null: nothing was said. */
  maximum: z.number().nullable(),
  /** The largest value of images of more than 8 bits; null without such images. */
  largestValue: z.number().nullable(),
  /** Images with each of these. */
  cmyk: count,
  alpha: count,
  palette: count,
  turned: count.describe('by their EXIF data'),
  paged: count.describe('with several pages, or animated'),
  /** The first files whose ending is that of another format. */
  misnamed: z.array(z.string()),
  /** The first files that cannot be read. */
  unreadable: z.array(z.strictObject({ file: z.string(), reason: z.string() })),
  unreadableCount: count,
  /**
   * Files that are not read: of other endings, of the system (`._1.jpg`), outside of the folders of classes, or
   * images beside those of a table that no row of it names.
   */
  leftOut: z.array(
    z.strictObject({
      ending: z.string(),
      reason: z.enum(['ending', 'hidden', 'place', 'row']),
      count,
      examples: z.array(z.string()),
    }),
  ),
  findings: z.array(findingSchema),
});
export type ImageProfile = z.output<typeof imageProfileSchema>;

/** A class with fewer images is rare: a split of a fifth has one or two of them. */
const fewImages = 10;

/**
 * What a person should know of a folder of images before training: questions first, then warnings, then notes.
 * @param others that were found before
 * @param likelyMaximum what becomes 255 where the images may have fewer bits than their files; null: no question
 */
export function imageFindings(
  profile: Omit<ImageProfile, 'findings'>,
  likelyMaximum: number | null,
  others: readonly Finding[] = [],
): Finding[] {
  return byLevel([
    ...others,
    ...depthFindings(profile, likelyMaximum),
    ...rowFindings(profile),
    ...classFindings(profile),
    ...fileFindings(profile),
    ...propertyFindings(profile),
  ]);
}

function depthFindings({ largestValue }: Omit<ImageProfile, 'findings'>, likelyMaximum: number | null): Finding[] {
  if (largestValue === null) return [];
  if (likelyMaximum === null) {
    const message = `Images have more than 8 bits a value, the largest being ${largestValue}: they are scaled to bytes.`;
    return [finding('note', 'depth', message, null)];
  }
  const message =
    `Images have 16 bits a value, but none is above ${largestValue} of 65535: these may be numbers of ` +
    `${Math.log2(likelyMaximum + 1)} bits, or dark images. Which value becomes 255?`;
  const option = `imageFolder(folder, { maximum: ${likelyMaximum} })`;
  return [{ ...finding('question', 'depth', message, option), choices: [String(likelyMaximum), '65535'] }];
}

function classFindings({ classes, splits, table }: Omit<ImageProfile, 'findings'>): Finding[] {
  const isRead = (split: string): boolean => splits.some((own) => own.split === split);
  const untrained = classes.filter(({ train }) => train === 0);
  const rare = classes.filter(({ train }) => train > 0 && train < fewImages);
  const named = (own: typeof classes): string => listed(own.map(({ name }) => JSON.stringify(name)));
  const absent = (['validation', 'test'] as const)
    .filter((split) => isRead(split))
    .flatMap((split) => {
      const own = classes.filter((each) => each.train > 0 && each[split] === 0);
      return own.length === 0 ? [] : [finding('warning', 'splits', `The ${split} split lacks ${named(own)}.`, null)];
    });
  const where = splits.map(({ split, folder }) => `${folder} (${split})`).join(', ');
  const given =
    table === null
      ? `The splits are the folders ${where}.`
      : `${JSON.stringify(table.splitColumn)} gives the splits: ${where}.`;
  return [
    ...(splits.length < 2 ? [] : [finding('note', 'splits', given, table === null ? 'splitFolders' : 'split')]),
    ...(untrained.length === 0
      ? []
      : [finding('warning', 'splits', `The training split lacks ${named(untrained)}: training is refused.`, null)]),
    ...absent,
    ...(rare.length === 0
      ? []
      : [finding('warning', 'rare-classes', `Fewer than ${fewImages} images to train on: ${named(rare)}.`, null)]),
  ];
}

/** Why files are left out, for people. */
export const leftOutReasons: Readonly<Record<ImageProfile['leftOut'][number]['reason'], string>> = {
  ending: 'no format that is read',
  hidden: "the system's own",
  place: 'in no folder of a class',
  row: 'named by no row',
};

function fileFindings({ unreadable, unreadableCount, leftOut, misnamed }: Omit<ImageProfile, 'findings'>): Finding[] {
  const files = leftOut.map(({ ending, reason, count: own, examples }) => {
    return `${own} ${ending} (${leftOutReasons[reason]}: ${listed(examples)})`;
  });
  return [
    ...(unreadableCount === 0
      ? []
      : [
          finding(
            'warning',
            'unreadable',
            `${unreadableCount} of the images cannot be read, which ends training: ` +
              `${listed(unreadable.map(({ file }) => file))}. ${unreadable[0].reason}`,
            null,
          ),
        ]),
    ...(files.length === 0
      ? []
      : [
          finding(
            leftOut.every(({ reason }) => reason === 'hidden') ? 'note' : 'warning',
            'left-out',
            `Left out: ${files.join('; ')}.`,
            null,
          ),
        ]),
    ...(misnamed.length === 0
      ? []
      : [finding('note', 'formats', `Read as what they are, not as they are called: ${listed(misnamed)}.`, null)]),
  ];
}

/** Rows that are no samples, for people: `3 rows name an image that is not there ("a.png" in row 3, ...)`. */
export function rowProblemText({ reason, count: rows, examples }: RowProblem): string {
  const [one, several] = rowFacts[reason];
  return `${formatCount(rows)} ${rows === 1 ? `row ${one}` : `rows ${several}`} (${listed(examples)})`;
}

const kindsOfRows: Readonly<Record<RowProblem['reason'], Finding['kind']>> = {
  empty: 'missing-values',
  missing: 'missing-images',
  ambiguous: 'missing-images',
  contradictory: 'contradictions',
  doubled: 'duplicates',
};

function rowFindings({ table }: Omit<ImageProfile, 'findings'>): Finding[] {
  return (table?.problems ?? []).map((problem) => {
    const { reason } = problem;
    const text = `${rowProblemText(problem)}.`;
    if (reason === 'doubled') return finding('note', kindsOfRows[reason], `${text} Each image counts once.`, null);
    const message = `${text} Left out. ${rowRemedies[reason]}`;
    return finding('warning', kindsOfRows[reason], message, "unusableRows: 'drop'");
  });
}

const rowFacts: Readonly<Record<RowProblem['reason'], readonly [one: string, several: string]>> = {
  empty: ['has no name of an image, or no target', 'have no name of an image, or no target'],
  missing: ['names an image that is not there', 'name images that are not there'],
  ambiguous: ['has a name that several images have', 'have names that several images have'],
  contradictory: ['contradicts another row of its image', 'contradict another row of their image'],
  doubled: ['names the image of an earlier row', 'name images of earlier rows'],
};
/** What settles them, but for `doubled`, where nothing is to be settled. */
export const rowRemedies: Readonly<Record<Exclude<RowProblem['reason'], 'doubled'>, string>> = {
  empty: 'Every image needs a name and a target: complete the rows.',
  missing:
    'Correct the names, or give the folder in which the images lie; one outside of the project needs a permission.',
  ambiguous: 'Write the folder and the ending of the image.',
  contradictory: 'Correct the rows: an image has one target, and lies in one split and group.',
};

function propertyFindings(profile: Omit<ImageProfile, 'findings'>): Finding[] {
  const { sizes, paged, cmyk, alpha, turned, channels } = profile;
  const colours = [
    ...(alpha === 0 ? [] : [`${alpha} transparent ones are laid on black`]),
    ...(cmyk === 0 ? [] : [`${cmyk} in CMYK become RGB`]),
    ...(turned === 0 ? [] : [`${turned} are turned upright by their EXIF data`]),
    ...(Object.keys(channels).length < 2 ? [] : ['some are grey, some have colours: channels says what all become']),
  ];
  return [
    ...(sizes === null || sizes.distinct < 2
      ? []
      : [
          finding(
            'note',
            'sizes',
            `The images have ${sizes.distinct} different sizes.`,
            "size: [64, 64], fit: 'cover'",
          ),
        ]),
    ...(paged === 0
      ? []
      : [finding('warning', 'pages', `${paged} images have several pages, of which only the first is read.`, null)]),
    ...(colours.length === 0 ? [] : [finding('note', 'colours', `Of the images, ${colours.join('; ')}.`, null)]),
  ];
}

function finding(level: Finding['level'], kind: Finding['kind'], message: string, option: string | null): Finding {
  return { level, kind, column: null, message, choices: null, option };
}

function listed(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ', ...' : '');
}

/** How many images of how many classes, for people. */
export function imageSentence(profile: ImageProfile): string {
  const { bytes, classes } = profile;
  const of = classes.length === 0 ? '' : ` of ${formatCount(classes.length)} classes`;
  return `${formatCount(imageCount(profile))} images${of}. ${formatBytes(bytes)}.`;
}

/** Images of all splits. */
export function imageCount({ splits }: ImageProfile): number {
  return splits.reduce((sum, own) => sum + own.images, 0);
}

/** What the images have, for people: names with texts. */
export function imageFacts({ sizes, formats, channels, depths }: ImageProfile): [name: string, text: string][] {
  const shown = ([height, width]: readonly number[]): string => `${height} × ${width}`;
  return [
    ...(sizes === null
      ? []
      : [
          [
            'Sizes',
            sizes.distinct === 1
              ? `all ${shown(sizes.median)} pixels`
              : `${shown(sizes.smallest)} to ${shown(sizes.largest)} pixels, the median ${shown(sizes.median)}`,
          ] satisfies [string, string],
        ]),
    ['Formats', countsText(formats, (format) => format.toUpperCase())],
    ['Channels', countsText(channels)],
    ['Values', countsText(depths, (depth) => depthTitles[depth] ?? depth)],
  ];
}

const depthTitles: Readonly<Record<string, string>> = { uchar: '8 bits', ushort: '16 bits', float: 'float32' };

/** One name, or several with the images that have each: `PNG (12), JPEG (3)`. */
function countsText(own: Readonly<Record<string, number>>, titleOf = (name: string): string => name): string {
  const entries = Object.entries(own);
  const isOne = entries.length === 1;
  return entries.map(([name, count]) => `${titleOf(name)}${isOne ? '' : ` (${formatCount(count)})`}`).join(', ');
}

/** Images of each split. */
export function countsOf({ splits }: ImageProfile): Record<SplitName, number> {
  const of = (split: SplitName): number => splits.find((own) => own.split === split)?.images ?? 0;
  return { train: of('train'), validation: of('validation'), test: of('test') };
}

/** The lines of a folder of images for a terminal, without its findings. */
export function imageLines(profile: ImageProfile): string[] {
  const { folder, splits, classes, table } = profile;
  const rows = classes.length > 0 ? classes : [{ name: 'images', ...countsOf(profile) }];
  const width = Math.max(...rows.map(({ name }) => printableLine(name).length), 5);
  const row = (name: string, cells: readonly string[]): string =>
    [printableLine(name).padEnd(width), ...cells.map((cell) => cell.padStart(10))].join('  ');
  const names = splits.map(({ split }) => split);
  return [
    `${printableLine(table?.profile.reading.file ?? folder)}: ${imageSentence(profile)}`,
    '',
    row(classes.length > 0 ? 'class' : '', names),
    ...rows.map((own) =>
      row(
        own.name,
        names.map((split) => formatCount(own[split])),
      ),
    ),
    '',
    ...imageFacts(profile).map(([name, text]) => `${name}: ${text}.`),
  ];
}
