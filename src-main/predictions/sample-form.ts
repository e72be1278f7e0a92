import { z } from 'zod';
import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import { type ColumnStep, type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import type { SampleField, SampleForm } from '../../core/protocol/pages/new-samples.ts';
import { readOwnText } from '../../core/node/own-files.ts';

/** More features than these are not filled in by hand. */
const maximumFeatures = 32;

/**
 * What the ensemble of a run takes, from the files that the run kept. Runs no code of the project.
 * @throws Error that names what is missing or damaged
 */
export async function readSampleForm(folder: string): Promise<SampleForm> {
  const { set, members, preprocessing: path } = await describeEnsemble(folder);
  const preprocessing = path === null ? null : preprocessingSchema.parse(JSON.parse(await readOwnText(folder, path)));
  const columns = preprocessing === null ? [] : fieldsOf(preprocessing);
  const takesImages = preprocessing?.steps.some(({ kind }) => kind === 'images') ?? false;
  const series = preprocessing === null ? null : seriesOf(preprocessing);
  const isOther = columns.length > 0 || takesImages || series !== null;
  const count = isOther ? null : featureCount(JSON.parse(await readOwnText(folder, members[0].model)));
  return {
    set,
    ranks: members.map(({ rank }) => rank),
    fields: columns.length > 0 ? columns : numberedFields(count),
    series,
    takesImages,
  };
}

function seriesOf({ steps }: Preprocessing): SampleForm['series'] {
  const step = steps.find(({ kind }) => kind === 'series');
  if (step?.kind !== 'series') return null;
  const { entity, time, columns, length } = step;
  const names = [entity, time, ...columns].flatMap((own) => own?.name ?? []);
  return { columns: names, entity: entity?.name ?? null, length };
}

function fieldsOf({ steps }: Preprocessing): SampleField[] {
  return steps.flatMap((step) => {
    if (step.kind === 'table') return step.columns.map(columnField);
    if (step.kind !== 'texts') return [];
    return step.columns.map(({ name, impute }): SampleField => ({
      name,
      type: 'text',
      categories: [],
      mean: null,
      isOptional: impute,
    }));
  });
}

function columnField(column: ColumnStep): SampleField {
  const { name, type } = column;
  return {
    name,
    type,
    categories: column.type === 'category' ? column.categories : [],
    mean: column.type === 'number' ? column.mean : null,
    isOptional: column.impute !== null,
  };
}

function numberedFields(count: number | null): SampleField[] | null {
  if (count === null || count > maximumFeatures) return null;
  const rest = { type: 'number', categories: [], mean: null, isOptional: false } as const;
  return Array.from({ length: count }, (_, i): SampleField => ({ ...rest, categories: [], name: `x${i}` }));
}

const layerSchema = z.object({ config: z.object({ batch_input_shape: z.array(z.int().nullable()).optional() }) });
const topologySchema = z.object({ config: z.object({ layers: z.array(layerSchema) }) });

/** Features of a model with one input of one dimension; null for others. */
function featureCount(topology: unknown): number | null {
  const parsed = topologySchema.safeParse(topology);
  if (!parsed.success) return null;
  const shapes = parsed.data.config.layers.flatMap(({ config }) =>
    config.batch_input_shape === undefined ? [] : [config.batch_input_shape],
  );
  return shapes.length === 1 && shapes[0].length === 2 ? shapes[0][1] : null;
}
