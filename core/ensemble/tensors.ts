import { z } from 'zod';
import type { Values } from './arithmetic.ts';
import type { EnsemblePredictions } from './predictions.ts';
import type { EnsembleDescription } from './schema.ts';

/**
 * Tensors of the Open Inference Protocol (version 2), as they cross from the server to the process that predicts and
 * back. The first size of every shape is N, the number of samples.
 */

const datatypes = ['BOOL', 'UINT8', 'INT32', 'FP32', 'FP64', 'BYTES'] as const;

/** An input or output of a served ensemble. A size of -1 is free. */
export const tensorInfoSchema = z.strictObject({
  name: z.string(),
  datatype: z.enum(datatypes),
  shape: z.array(z.int().min(-1)),
});
export type TensorInfo = z.output<typeof tensorInfoSchema>;

/** An input, and what its values are. */
export const inputInfoSchema = tensorInfoSchema.extend({
  /**
   * A column of the training table, whose values may be missing; values of the model's main input; values of a further
   * input of its name.
   */
  kind: z.enum(['column', 'values', 'extra']),
  /** Whether requests may leave a column out, because training put a value for missing ones. Columns only. */
  isOptional: z.boolean().optional(),
});
export type InputInfo = z.output<typeof inputInfoSchema>;

export interface Tensor extends TensorInfo {
  /**
   * Row-major. BOOL: 1, 0, and NaN where a value is missing; FP64: NaN where one is; BYTES: texts, null where one is.
   */
  values: Float64Array | Float32Array | Int32Array | Uint8Array | readonly (string | null)[];
}

/** What of an ensemble names its outputs. */
type Naming = Pick<EnsembleDescription, 'classNames' | 'outputs'>;

/**
 * Predictions as tensors, with the names of the exported ONNX file. Those of a further output have its name:
 * `distance/mean`.
 * @param wanted names of outputs; null: all but those of single members
 * @throws Error for a name that is no output, with those that are
 */
export function outputTensors(found: EnsemblePredictions, naming: Naming, wanted: readonly string[] | null): Tensor[] {
  if (wanted === null) return headsOf(found, naming).flatMap(ensembleTensors);
  const all = allTensors(found, naming);
  return wanted.map((name) => {
    const tensor = all.find((own) => own.name === name);
    if (tensor !== undefined) return tensor;
    throw new Error(`There is no output "${name}". Outputs are ${all.map((own) => own.name).join(', ')}.`);
  });
}

/** The same with those of single members, which come last. */
export function allTensors(found: EnsemblePredictions, naming: Naming): Tensor[] {
  const heads = headsOf(found, naming);
  return [...heads.flatMap(ensembleTensors), ...heads.flatMap(memberTensors)];
}

/** Predictions for a task, and what its tensors' names begin with. */
interface Head {
  prefix: string;
  found: EnsemblePredictions;
  classNames: readonly string[] | null;
}

/** The run's task, then the further outputs. */
function headsOf(found: EnsemblePredictions, { classNames, outputs }: Naming): Head[] {
  const further = outputs.filter(({ name }) => Object.hasOwn(found.further, name));
  return [
    { prefix: '', found, classNames },
    ...further.map((own) => ({ prefix: `${own.name}/`, found: found.further[own.name], classNames: own.classNames })),
  ];
}

/** What the ensemble predicts, and what thresholds say of it. */
function ensembleTensors({ prefix, found, classNames }: Head): Tensor[] {
  return named(prefix, [...predictedTensors(found, classNames), ...judgementTensors(found)]);
}

function named(prefix: string, tensors: readonly Tensor[]): Tensor[] {
  return tensors.map((tensor) => ({ ...tensor, name: `${prefix}${tensor.name}` }));
}

function predictedTensors(found: EnsemblePredictions, classNames: readonly string[] | null): Tensor[] {
  const mean = perValue(found, 'mean', found.mean);
  switch (found.kind) {
    case 'classes':
      return [
        mean,
        { ...perSample(found, 'label', found.labels), datatype: 'INT32' },
        ...(classNames === null ? [] : [className(found, classNames)]),
        perSample(found, 'entropy', found.entropy),
        perSample(found, 'mutual_information', found.mutualInformation),
        ...(found.sets === null ? [] : [boolean(perValue(found, 'set', found.sets))]),
      ];
    case 'labels':
      return [
        mean,
        perValue(found, 'entropy', found.entropy),
        perValue(found, 'mutual_information', found.mutualInformation),
        ...(found.sets === null ? [] : [boolean(perValue(found, 'set', found.sets))]),
      ];
    case 'values':
      return [
        mean,
        ...(found.aleatoric === null ? [] : [perValue(found, 'aleatoric', found.aleatoric)]),
        perValue(found, 'epistemic', found.epistemic),
        perValue(found, 'standard_deviation', found.standardDeviation),
        ...ends(found.intervals, (name, values) => perValue(found, name, values)),
      ];
    case 'quantiles':
      return [
        mean,
        perValue(found, 'epistemic', found.epistemic),
        ...ends(found.intervals, (name, values) => perSample(found, name, values)),
      ];
  }
}

function className(found: Extract<EnsemblePredictions, { kind: 'classes' }>, classNames: readonly string[]): Tensor {
  const values = Array.from(found.labels, (label) => classNames[label]);
  return { name: 'class', datatype: 'BYTES', shape: sizesOf(found), values };
}

function judgementTensors(found: EnsemblePredictions): Tensor[] {
  const { outsideScores = null, isOutside = null, isWithheld = null } = found.judgement ?? {};
  return [
    ...(outsideScores === null ? [] : [perSample(found, 'outside_score', outsideScores)]),
    ...(isOutside === null ? [] : [boolean(perSample(found, 'outside', isOutside))]),
    ...(isWithheld === null ? [] : [boolean(perSample(found, 'withheld', isWithheld))]),
  ];
}

/**
 * `[M, N, K]` becomes `[N, M, K]`, or `[N, M, P, K]` where a sample has P positions: samples come first in every
 * output.
 */
function memberTensors({ prefix, found }: Head): Tensor[] {
  const [samples, ...positions] = sizesOf(found);
  const shape = [samples, found.memberCount, ...positions, found.width];
  const tensor = (name: string, values: Values): Tensor => ({
    name,
    datatype: values instanceof Float64Array ? 'FP64' : 'FP32',
    shape,
    values: samplesFirst(values, found),
  });
  const variances = found.kind === 'values' ? found.memberVariances : null;
  const own = [
    tensor('members', found.members),
    ...(variances === null ? [] : [tensor('member_variances', variances)]),
  ];
  return named(prefix, own);
}

function samplesFirst(values: Values, { memberCount, samples: rows, positions, width }: EnsemblePredictions): Values {
  const turned = values instanceof Float64Array ? new Float64Array(values.length) : new Float32Array(values.length);
  const [samples, size] = [rows / positions, positions * width];
  for (let member = 0; member < memberCount; member++) {
    for (let sample = 0; sample < samples; sample++) {
      const from = (member * samples + sample) * size;
      turned.set(values.subarray(from, from + size), (sample * memberCount + member) * size);
    }
  }
  return turned;
}

/** `[N]`, or `[N, P]` where a sample has P positions. */
function sizesOf({ samples, positions }: EnsemblePredictions): number[] {
  return positions === 1 ? [samples] : [samples / positions, positions];
}

function perSample(found: EnsemblePredictions, name: string, values: Float64Array | Int32Array | Uint8Array): Tensor {
  return { name, datatype: 'FP64', shape: sizesOf(found), values };
}

function perValue(found: EnsemblePredictions, name: string, values: Float64Array | Uint8Array): Tensor {
  return { name, datatype: 'FP64', shape: [...sizesOf(found), found.width], values };
}

function boolean(tensor: Tensor): Tensor {
  return { ...tensor, datatype: 'BOOL' };
}

function ends(
  intervals: { lower: Float64Array; upper: Float64Array } | null,
  tensor: (name: string, values: Float64Array) => Tensor,
): Tensor[] {
  return intervals === null ? [] : [tensor('lower', intervals.lower), tensor('upper', intervals.upper)];
}
