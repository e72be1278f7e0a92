import { quoted } from '../column-findings.ts';
import { countsOf, type ImageProfile, type ImageTable } from '../image-profile.ts';
import { outputLines, type PlannedTask, taskOf, tasks } from './planned-task.ts';
import type { Finding, TableProfile } from '../profile.ts';
import {
  type ColumnRole,
  listOf,
  onlyOne,
  openFindings,
  type PlanChoices,
  planProject,
  type ProjectPlan,
  rolesOf,
  targetsOf,
} from './project-plan.ts';
import type { SplitName } from '../split-column.ts';

/** A project that learns from images, in folders of their classes or named by a table, with all that was decided. */
export interface ImagePlan {
  profile: ImageProfile;
  /** Columns of the table; empty: the class that the folder names. */
  targets: readonly string[];
  task: PlannedTask;
  /** What each column of the table is for, but for its target. */
  roles: ReadonlyMap<string, ColumnRole>;
  group: string | null;
  /** Height and width that all images get. */
  side: number;
  channels: 1 | 3;
  /** Sizes of the splits that are not given. */
  drawn: { validation: number; test: number };
  isMirrored: boolean;
  /** What was decided, one sentence each with the reason. */
  decisions: readonly string[];
  /** So many of these, the first ones, are about the columns of a table. */
  ofColumns: number;
  /** Findings that the decisions leave open. */
  open: readonly Finding[];
}

/** Larger images take minutes an epoch on a CPU; smaller ones than this leave the network nothing to halve twice. */
const [smallestSide, largestSide] = [8, 64];
const heldOut = 0.2;
/** What a column of a table of images may be for. */
const rolesBesideImages: readonly ColumnRole[] = ['image', 'split', 'group', 'target', 'ignore'];

/** A project for what is in a table, or for images. */
export function planData(profile: TableProfile | ImageProfile, choices: PlanChoices): ProjectPlan | ImagePlan {
  return profile.kind === 'table' ? planProject(profile, choices) : planImages(profile, choices);
}

/**
 * A project for what is in a folder of images, or in those that a table names.
 * @throws Error where no image can be read, all are of one class, or a choice does not fit
 */
export function planImages(profile: ImageProfile, choices: PlanChoices = {}): ImagePlan {
  const { sizes, splits, table, channels: counted, findings } = profile;
  if (sizes === null) throw new Error(`${profile.folder} has no image that can be read.`);
  const decisions: string[] = [];
  const about = table === null ? ofFolder(profile, decisions) : ofTable(table, choices, decisions);
  const ofColumns = table === null ? 0 : decisions.length;
  requireClasses(profile, about);
  const middle = Math.min(...sizes.median);
  const side = Math.min(largestSide, Math.max(smallestSide, Math.floor(middle / 8) * 8));
  const channels = Object.keys(counted).every((own) => own === '1' || own === '2') ? 1 : 3;
  const has = (split: string): boolean => splits.some((own) => own.split === split);
  const drawn = { validation: has('validation') ? 0 : heldOut, test: has('test') ? 0 : heldOut };
  const whyUnmirrored = reasonAgainstMirrors(profile, about);
  decisions.push(
    `Images become ${side} × ${side} pixels, the median being ${sizes.median.join(' × ')}.`,
    channels === 1 ? 'One channel: all images are grey.' : 'Three channels: images have colours.',
    splitDecision(profile, about, drawn),
    whyUnmirrored === null
      ? 'Training images are shifted and mirrored at random.'
      : `Training images are shifted at random, and not mirrored, because ${whyUnmirrored}.`,
  );
  const open = openFindings(findings, { ...about, time: null, split: null });
  return { profile, ...about, side, channels, drawn, isMirrored: whyUnmirrored === null, ofColumns, decisions, open };
}

type Meaning = Pick<ImagePlan, 'targets' | 'task' | 'roles' | 'group'>;

function ofFolder({ classes }: ImageProfile, decisions: string[]): Meaning {
  decisions.push(`Predicts the class, one of ${classes.length}: the names of the folders.`);
  return { targets: [], task: 'classification', roles: new Map(), group: null };
}

/** What the columns of a table of images are for: all that have no role are left out. */
function ofTable(
  { profile, column, splitColumn }: ImageTable,
  { roles: wanted = {}, task: wantedTask }: PlanChoices,
  decisions: string[],
): Meaning {
  const unfit = Object.entries(wanted).find(([, role]) => !rolesBesideImages.includes(role));
  if (unfit !== undefined) {
    throw new Error(
      `${JSON.stringify(unfit[0])} cannot be ${unfit[1]}: the networks see the images alone. Give it one of the roles ` +
        `${rolesBesideImages.join(', ')}, or learn from the columns: give ${JSON.stringify(column)} the role ignore.`,
    );
  }
  const targets = targetsOf(profile, wanted);
  const others = profile.columns.filter(({ name }) => ![column, splitColumn].includes(name));
  const proposed = others.map(({ name }): [string, ColumnRole] => [name, 'ignore']);
  const split: [string, ColumnRole][] = splitColumn === null ? [] : [[splitColumn, 'split']];
  const roles = rolesOf(profile, {
    roles: { ...Object.fromEntries(proposed), [column]: 'image', ...Object.fromEntries(split), ...wanted },
  });
  for (const role of ['image', 'split'] as const) onlyOne(roles, role);
  const names = listOf(targets.map(({ name }) => name));
  decisions.push(`Predicts ${names} of the images that ${JSON.stringify(column)} names: ${profile.target?.reason}.`);
  const task = taskOf(targets, wantedTask, decisions);
  if (task === 'forecast') throw new Error('A forecast is for the numbers of a series, not for images.');
  const ignored = [...roles].flatMap(([name, role]) => (role === 'ignore' ? [name] : []));
  if (ignored.length > 0) decisions.push(`Leaves out ${listOf(ignored)}: the networks see the images alone.`);
  return { targets: targets.map(({ name }) => name), task, roles, group: onlyOne(roles, 'group') };
}

/** @throws Error where there is nothing to tell apart */
function requireClasses({ folder, classes, table }: ImageProfile, { task, targets }: Meaning): void {
  if (task !== 'classification' || classes.length > 1 || (table !== null && classes.length === 0)) return;
  const only = classes[0]?.name;
  throw new Error(
    table === null
      ? `${folder} has one class only, ${only}. Make a folder for each class.`
      : `All images have the same ${JSON.stringify(targets[0])}, ${only}. Choose another target.`,
  );
}

/** Why a mirrored image may be another sample; null: it is none. */
function reasonAgainstMirrors({ classes }: ImageProfile, { task }: Meaning): string | null {
  if (task !== 'classification') return 'the values of a mirrored image may be others';
  return classes.every(({ name }) => /^.$/u.test(name)) ? 'the classes are single letters or digits' : null;
}

function splitDecision({ table }: ImageProfile, { task, group }: Meaning, drawn: ImagePlan['drawn']): string {
  const names = (['validation', 'test'] as const).filter((split) => drawn[split] > 0);
  if (names.length === 0) {
    return table === null ? 'Folders hold all splits.' : `${JSON.stringify(table.splitColumn)} gives all splits.`;
  }
  const how =
    group !== null
      ? `those of one ${JSON.stringify(group)} in one split`
      : task === 'classification'
        ? 'with the classes in the same proportions'
        : 'drawn at random';
  return `A fifth of the training images${names.length > 1 ? ' each' : ''} for ${names.join(' and ')}, ${how}.`;
}

/** The images of each split, those that are drawn from the training images included. */
export function plannedCounts({ profile, drawn }: ImagePlan): Record<SplitName, number> {
  const given = countsOf(profile);
  const [validation, test] = [drawn.validation, drawn.test].map((share) => Math.round(share * given.train));
  return {
    train: given.train - validation - test,
    validation: validation + given.validation,
    test: test + given.test,
  };
}

/** The model of the project's code, for people. */
export function imageModelSentence(plan: ImagePlan): string {
  return (
    `Five residual networks of three stages with 16, 32 and 64 filters, which give ${tasks[plan.task].output}; AdamW, ` +
    `batches of ${batchSizeFor(plan)}, until the NLL of the ensemble no longer falls.`
  );
}

const batchSizeFor = ({ profile }: ImagePlan): number => (profile.splits[0].images < 500 ? 16 : 32);

/**
 * The project's code.
 * @param data name of the table, or of the images' folder, beside it @param title the project's name
 * @param readingLines options of `readTable`
 */
export function imageProjectSource(
  plan: ImagePlan,
  { data, title, readingLines }: { data: string; title: string; readingLines: readonly string[] },
): string {
  const { profile, side, isMirrored, task, targets } = plan;
  const augmentation = [`cropPadding: ${side / 8}`, ...(isMirrored ? ['horizontalFlip: true'] : [])].join(', ');
  const predicted =
    targets.length === 0
      ? 'The class'
      : `${tasks[task].answer} of ${targets.length === 1 ? targets[0] : listOf(targets)}`;
  const among = targets.length === 0 ? `of an image, one of ${profile.classes.length}` : 'from an image';
  const reader = targets.length === 0 ? 'imageFolder' : 'imageTable';
  return `import { join } from 'node:path';
import { defineProject, ${reader}, standardize, type SymbolicTensor, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: ${quoted(title)},
  description: ${quoted(`${predicted} ${among}.`)},
  task: '${task}',
  hyperparameters: z.object({
    filters: z.int().min(1).default(16).meta({ help: 'Filters of the first stage; each further one has twice as many.' }),
  }),
  defaults: {
    members: 5,
    maxEpochs: 100,
    batchSize: ${batchSizeFor(plan)},
    optimizer: { kind: 'adamw', learningRate: 0.002 },
    earlyStopping: { enabled: true, monitor: 'val/ens_nll', patience: 15 },
    augmentation: { ${augmentation} },
  },

  async data({ seed${plan.drawn.test > 0 ? ', fold' : ''} }) {
    const splits = await ${reader}(join(import.meta.dirname, ${quoted(data)}), {
${[...readingLines, ...originLines(plan), ...optionLines(plan)].map((line) => `      ${line},`).join('\n')}
    });
    return standardize(splits).splits;
  },

${network(task)}`;
}

/** Where the images, their targets and splits come from, as options of `imageFolder` or `imageTable`. */
function originLines({ profile: { table, splits, folder }, targets, task, group }: ImagePlan): string[] {
  const given = splits.map(({ split, folder: own }) => `${split}: ${quoted(own)}`).join(', ');
  const isSplit = splits.length > 1 || splits[0].folder !== '.';
  if (table === null) return [isSplit ? `splitFolders: { ${given} }` : 'splitFolders: false'];
  return [
    `path: ${quoted(table.column)}`,
    `folder: ${quoted(folder)}`,
    `target: ${targets.length === 1 ? quoted(targets[0]) : `[${targets.map(quoted).join(', ')}]`}`,
    `targetKind: '${tasks[task].targetKind}'`,
    ...(tasks[task].targetKind === 'values' ? ['standardizeTargets: true'] : []),
    ...(table.splitColumn === null ? [] : [`split: { column: ${quoted(table.splitColumn)}, ${given} }`]),
    ...(group === null ? [] : [`group: ${quoted(group)}`]),
    ...(table.problems.length === 0 ? [] : ["unusableRows: 'drop'"]),
  ];
}

/** What images become, and the splits that are drawn. */
function optionLines({ profile, side, channels, drawn }: ImagePlan): string[] {
  const { largestValue, maximum } = profile;
  return [
    `size: [${side}, ${side}]`,
    `channels: ${channels}`,
    "fit: 'cover'",
    ...(largestValue === null ? [] : [`maximum: ${maximum ?? 65_535}`]),
    'seed',
    ...(drawn.validation > 0 ? [`validation: ${drawn.validation}`] : []),
    ...(drawn.test > 0 ? [`test: ${drawn.test}`, 'fold'] : []),
  ];
}

const network = (
  task: PlannedTask,
): string => `  // A residual network of three stages: each block adds what two convolutions find to its input (He et al., 2016).
  model({ hyperparameters: { filters }, featureShape, targetSize }) {
    const input = tf.input({ shape: [...featureShape] });
    let x = normalized(input, filters, 1);
    for (const [stage, strides] of [1, 2, 2].entries()) x = block(x, filters * 2 ** stage, strides);
    const pooled = tf.layers.globalAveragePooling2d({}).apply(x);
${outputLines(task, { hidden: 'pooled', inputs: 'input' })}  },
});

function block(input: SymbolicTensor, filters: number, strides: number): SymbolicTensor {
  const inner = tf.layers.reLU().apply(normalized(input, filters, strides)) as SymbolicTensor;
  const shortcut = strides === 1 ? input : normalized(input, filters, strides, 1);
  const sum = tf.layers.add().apply([normalized(inner, filters, 1), shortcut]);
  return tf.layers.reLU().apply(sum) as SymbolicTensor;
}

function normalized(input: SymbolicTensor, filters: number, strides: number, kernelSize = 3): SymbolicTensor {
  const convolution = tf.layers.conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false });
  return tf.layers.batchNormalization({ momentum: 0.9 }).apply(convolution.apply(input)) as SymbolicTensor;
}
`;
