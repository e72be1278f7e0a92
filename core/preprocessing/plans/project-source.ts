import { keyOf, quoted } from '../column-findings.ts';
import { type ImagePlan, imageProjectSource } from './image-plan.ts';
import { outputLines, tasks } from './planned-task.ts';
import { heldOutShare, type TableProfile } from '../profile.ts';
import { isClock } from '../reading.ts';
import { embeddingWidth } from '../schema.ts';
import { type ColumnRole, listOf, noFeatures, type ProjectPlan, textLength } from './project-plan.ts';
import { forecastModelSentence, forecastSource } from './series-plan.ts';

/** Words that a text's tokenizer learns, the most frequent ones. */
const vocabulary = 5000;

/** The code of a planned project. @param data name of the data beside it @param title the project's name */
export function plannedSource(plan: ProjectPlan | ImagePlan, data: string, title: string): string {
  if (!('side' in plan)) return projectSource(plan, data, title);
  const { roles, profile } = plan;
  const readingLines = profile.table === null ? [] : readingLinesOf(profile.table.profile, roles);
  return imageProjectSource(plan, { data, title, readingLines });
}

/** The name of a project's folder as its title: `my-houses` as `My houses`. */
export function projectTitle(folderName: string): string {
  const words = folderName.replaceAll(/[_-]+/g, ' ').trim();
  return words === '' ? 'My ensemble' : words[0].toUpperCase() + words.slice(1);
}

/** The project's code. @param file name of the table beside it @param title the project's name */
export function projectSource(plan: ProjectPlan, file: string, title: string): string {
  const { forecast } = plan;
  if (forecast === null) return tableSource(plan, file, title);
  const batchSize = batchSizeFor(plan.profile.reading.rows);
  return forecastSource(forecast, { title, file, readingLines: readingLinesOf(plan.profile, plan.roles), batchSize });
}

function tableSource(plan: ProjectPlan, file: string, title: string): string {
  const { targets, task } = plan;
  const texts = textsOf(plan);
  const isEmbedded = hasEmbeddings(plan);
  const isFunctional = task === 'heteroscedastic-regression' || texts.length > 0 || isEmbedded;
  const features = [...plan.roles.values()].filter((role) => !noFeatures.includes(role)).length;
  const predicted = targets.length === 1 ? targets[0] : listOf(targets);
  const description = `${tasks[task].answer} of ${predicted} from ${features} ${features === 1 ? 'column' : 'columns'} of ${file}.`;
  return `import { join } from 'node:path';
import { defineProject, ${isEmbedded ? 'embedCategories, ' : ''}readTable, ${isFunctional ? 'type SymbolicTensor, ' : ''}tableSplits, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: ${quoted(title)},
  description: ${quoted(description)},
  task: '${task}',
  hyperparameters: z.object({
    width: z.int().min(1).default(64).meta({ help: 'Units of each of the two hidden layers.' }),
    dropout: z.number().min(0).max(0.9).default(0.1).meta({ help: 'Share of the units that a step leaves out.' }),
  }),
  defaults: {
    members: 5,
    membersPerDevice: 5,
    maxEpochs: 200,
    batchSize: ${batchSizeFor(plan.profile.reading.rows)},
    optimizer: { kind: 'adamw', learningRate: 0.002 },
    earlyStopping: { enabled: true, monitor: 'val/ens_nll', patience: 15 },
  },

  async data({ seed${plan.drawn.includes('test') ? ', fold' : ''} }) {
    const table = await readTable(join(import.meta.dirname, ${quoted(file)}), {
${indented(readingLinesOf(plan.profile, plan.roles))}
    });
    return tableSplits(table, {
${indented(splitLines(plan))}
    });
  },

${modelSource(plan)}});
`;
}

const indented = (lines: readonly string[]): string => lines.map((line) => `      ${line},`).join('\n');

/** The model of the project's code, for people. */
export function modelSentence(plan: ProjectPlan): string {
  const { task, profile, forecast } = plan;
  if (forecast !== null) return forecastModelSentence(forecast, batchSizeFor(profile.reading.rows));
  const embedded = [
    ...(hasEmbeddings(plan) ? ['embeddings of columns of many categories'] : []),
    ...(textsOf(plan).length > 0 ? ['the mean of the embeddings of the words'] : []),
  ];
  const words = embedded.length === 0 ? '' : `, behind ${embedded.join(' and ')}`;
  return (
    `Five networks of two hidden layers with 64 units and dropout${words}, which give ${tasks[task].output}; AdamW, batches of ` +
    `${batchSizeFor(profile.reading.rows)}, until the NLL of the ensemble no longer falls.`
  );
}

/** About 100 steps an epoch, so that early stopping sees enough epochs and an epoch enough steps. */
function batchSizeFor(rows: number): number {
  const wanted = (0.6 * rows) / 100;
  return [16, 32, 64, 128, 256].find((size) => size >= wanted) ?? 512;
}

/** All that was found out about the file, as options of `readTable`. */
function readingLinesOf({ reading, columns, target }: TableProfile, roles: ReadonlyMap<string, ColumnRole>): string[] {
  const types = columns.map((column) => {
    const role = column.name === target?.name ? undefined : roles.get(column.name);
    const isTyped = role === 'ignore' || (role !== undefined && !noFeatures.includes(role));
    return { ...column, type: isTyped ? role : column.type };
  });
  const decimals = types.flatMap(({ name, type, numberFormat }) =>
    type === 'number' && numberFormat !== null && !isClock(numberFormat)
      ? [`${keyOf(name)}: '${numberFormat.decimal}'`]
      : [],
  );
  const dates = types.flatMap(({ name, type, dateFormat }) =>
    type === 'date' && dateFormat !== null ? [`${keyOf(name)}: '${dateFormat}'`] : [],
  );
  const caseless = types.flatMap(({ name, type, ignoresCase }) =>
    type === 'category' && ignoresCase ? [quoted(name)] : [],
  );
  const leftOut = [...roles.keys()].filter((name) => !columns.some((column) => column.name === name));
  const lines = [...types, ...leftOut.map((name) => ({ name, type: 'ignore' }))].map(
    ({ name, type }) => `        ${keyOf(name)}: '${type}',\n`,
  );
  return [
    ...(reading.delimiter === null ? [] : [`delimiter: ${quoted(reading.delimiter)}`]),
    ...(reading.sheet === null ? [] : [`sheet: ${quoted(reading.sheet)}`]),
    ...(reading.range === null ? [] : [`range: ${quoted(reading.range)}`]),
    ...(reading.header === null ? [] : [`header: ${reading.header}`]),
    ...(reading.delimiter === null ? [] : [`commentLines: ${reading.comments.length}`]),
    ...(reading.encoding === null || reading.hasMark ? [] : [`encoding: ${quoted(reading.encoding)}`]),
    ...(decimals.length === 0 ? [] : [`decimal: { ${decimals.join(', ')} }`]),
    ...(dates.length === 0 ? [] : [`dateFormat: { ${dates.join(', ')} }`]),
    ...(caseless.length === 0 ? [] : [`ignoreCase: [${caseless.join(', ')}]`]),
    `missingValues: [${reading.missingValues.map(quoted).join(', ')}]`,
    `columns: {\n${lines.join('')}      }`,
  ];
}

function splitLines(plan: ProjectPlan): string[] {
  const { profile, targets, task, group, weights, time, split, drawn, isStratified, roles } = plan;
  const texts = textsOf(plan).map((name) => `${keyOf(name)}: { size: ${vocabulary}, length: ${textLength} }`);
  // Nothing can stand for a target, a weight, a group or a time.
  const needed = [...targets, weights, group, time];
  const incomplete = profile.columns.filter(({ name, missing }) => {
    return roles.get(name) !== 'ignore' && Object.keys(missing).length > 0;
  });
  const hasHoles = incomplete.some(({ name }) => needed.includes(name));
  // A row counts for those of several targets that it has.
  const policyOf = (name: string): string =>
    targets.length > 1 && targets.includes(name) ? 'mask' : needed.includes(name) ? 'drop' : 'impute';
  const policies = incomplete.map(({ name }) => `${keyOf(name)}: '${policyOf(name)}'`);
  return [
    'seed',
    ...(drawn.includes('test') ? ['fold'] : []),
    ...(time === null ? [] : [`time: ${quoted(time)}`]),
    ...(split === null ? [] : [`split: ${quoted(split)}`]),
    `target: ${targets.length === 1 ? quoted(targets[0]) : `[${targets.map(quoted).join(', ')}]`}`,
    `targetKind: '${tasks[task].targetKind}'`,
    hasHoles ? `missing: { ${policies.join(', ')} }` : "missing: 'impute'",
    ...(task === 'heteroscedastic-regression' ? ['standardizeTargets: true'] : []),
    ...(texts.length === 0 ? [] : [`text: { ${texts.join(', ')} }`]),
    ...(group === null ? [] : [`group: ${quoted(group)}`]),
    ...(weights === null ? [] : [`weights: ${quoted(weights)}`]),
    ...(split === null || drawn.includes('validation') ? [`validation: ${heldOutShare}`] : []),
    ...(split === null ? [`test: ${heldOutShare}`] : []),
    ...(isStratified && group === null ? ['stratify: true'] : []),
  ];
}

/** Columns of texts that the model reads. */
const textsOf = ({ roles }: ProjectPlan): string[] => namesOf(roles, (role) => role === 'text');

/** Whether a column has so many categories that they become vectors. */
const hasEmbeddings = ({ roles, profile }: ProjectPlan): boolean =>
  profile.columns.some(
    ({ name, distinctValues }) => roles.get(name) === 'category' && embeddingWidth(distinctValues) !== null,
  );

const namesOf = (roles: ReadonlyMap<string, ColumnRole>, has: (role: ColumnRole) => boolean): string[] =>
  [...roles].flatMap(([name, role]) => (has(role) ? [name] : []));

function modelSource(plan: ProjectPlan): string {
  const texts = textsOf(plan);
  const isEmbedded = hasEmbeddings(plan);
  if (plan.task !== 'heteroscedastic-regression' && texts.length === 0 && !isEmbedded) return classModel;
  const features = namesOf(plan.roles, (role) => !noFeatures.includes(role)).length;
  const { lines, inputs } = inputsSource(texts, features, isEmbedded);
  return `  model({ hyperparameters: { width, dropout }, featureShape, ${isEmbedded ? 'categories, ' : ''}targetSize }) {
    const { dense } = tf.layers;
${lines}    const hidden = [
      dense({ units: width, activation: 'relu' }),
      tf.layers.dropout({ rate: dropout }),
      dense({ units: width, activation: 'relu' }),
      tf.layers.dropout({ rate: dropout }),
    ].reduce((x, layer) => layer.apply(x) as SymbolicTensor, input);
${outputLines(plan.task, { hidden: 'hidden', inputs })}  },
`;
}

/** The inputs of the model, and `input`, of which its dense layers take all. */
function inputsSource(
  texts: readonly string[],
  features: number,
  isEmbedded: boolean,
): { lines: string; inputs: string } {
  const embedded = isEmbedded ? 'embedCategories(features, categories)' : 'features';
  if (texts.length === 0 && isEmbedded) {
    return { lines: `    const features = ${featuresInput}\n    const input = ${embedded};\n`, inputs: 'features' };
  }
  if (texts.length === 0) return { lines: `    const input = ${featuresInput}\n`, inputs: 'input' };
  const words = `
      .map((text) => tf.layers.embedding({ inputDim: ${vocabulary}, outputDim: 32, maskZero: true }).apply(text))
      .map((embedded) => tf.layers.globalAveragePooling1d({}).apply(embedded) as SymbolicTensor);
`;
  // Without other features, the words of the first text take their place.
  const isFirstText = features === texts.length;
  const named = (isFirstText ? texts.slice(1) : texts).map(
    (name) => `tf.input({ name: ${quoted(name)}, shape: [${textLength}] })`,
  );
  if (named.length === 0) {
    return { lines: `    const text = ${featuresInput}\n    const [input] = [text]${words}`, inputs: 'text' };
  }
  const [read, joined] = isFirstText ? ['[features, ...texts]', 'words'] : ['texts', `[${embedded}, ...words]`];
  return {
    lines: `    const features = ${featuresInput}
    const texts = [${named.join(', ')}];
    const words = ${read}${words}    const input = tf.layers.concatenate().apply(${joined}) as SymbolicTensor;
`,
    inputs: '[features, ...texts]',
  };
}

const featuresInput = 'tf.input({ shape: [...featureShape] });';

const classModel = `  model: ({ hyperparameters: { width, dropout }, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ units: width, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dropout({ rate: dropout }),
        tf.layers.dense({ units: width, activation: 'relu' }),
        tf.layers.dropout({ rate: dropout }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
`;
