import { type MaskSource, sampledKinds } from '../tensorflow/layers/sampled-dropout.ts';

/** A layer, or anything else with a class, in a description of an architecture. */
interface Described {
  class_name: string;
  config: Record<string, unknown>;
}

/**
 * The architecture of a draw of MC dropout: each dropout layer with a rate between 0 and 1 has a mask of its own
 * instead, which stays the same for all samples. The weights' names do not change.
 *
 * @param topology as a run keeps it
 * @param subject names the checkpoint, for messages
 * @throws Error where the model has no such layer, or one whose masks are drawn inside of it
 */
export function sampledTopology(
  topology: string,
  { seed, draw }: Pick<MaskSource, 'seed' | 'draw'>,
  subject: string,
): string {
  let layers = 0;
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    if (!isDescribed(value)) return mapValues(value, replace);
    refuseHiddenMasks(value, subject);
    if (!isDropout(value) || !isActive(value.config.rate)) return mapValues(value, replace);
    // Functional models name their layers, and say what they are called with, beside the configuration.
    return { ...value, ...sampled(value, { seed, draw, layer: layers++ }) };
  };
  const replaced = JSON.stringify(replace(JSON.parse(topology)));
  if (layers > 0) return replaced;
  throw new Error(
    `The model of ${subject} has no dropout layer with a rate between 0 and 1, so all draws of --method mc-dropout ` +
      'would be the same. Use --method swag or snapshots.',
  );
}

function sampled({ class_name: kind, config }: Described, source: Pick<MaskSource, 'seed' | 'draw' | 'layer'>): object {
  const { noise_shape: given = null, rate, seed: _own, ...rest } = config;
  // Spatial dropout drops a feature in all steps.
  const noiseShape = kind === 'SpatialDropout1D' ? [null, 1, null] : given;
  const distribution = sampledKinds[kind as keyof typeof sampledKinds];
  return {
    class_name: 'SampledDropout',
    config: { ...rest, kind: distribution, rate, noise_shape: noiseShape, ...source },
  };
}

function isDescribed(value: object): value is Described {
  const { class_name: name, config } = value as Partial<Described>;
  return typeof name === 'string' && typeof config === 'object' && config !== null;
}

const isDropout = ({ class_name: name }: Described): boolean => Object.hasOwn(sampledKinds, name);
const isActive = (rate: unknown): boolean => typeof rate === 'number' && rate > 0 && rate < 1;

/**
 * Recurrent layers draw masks for their gates inside of a step, where no layer can take their place: the recurrent ops
 * of ONNX and PyTorch take none. Alpha dropout adds values.
 */
function refuseHiddenMasks({ class_name: kind, config }: Described, subject: string): void {
  const option = ['dropout', 'recurrent_dropout'].find((name) => isActive(config[name]));
  const isAlpha = kind === 'AlphaDropout' && isActive(config.rate);
  if (option === undefined && !isAlpha) return;
  const reason = isAlpha
    ? 'alpha dropout also adds values'
    : 'a recurrent layer draws its masks for its gates inside of each step, and the recurrent layers of ONNX and ' +
      'PyTorch, which a member must be written to, take no masks';
  throw new Error(
    `--method mc-dropout draws the masks of ${Object.keys(sampledKinds).join(', ')} alone, but the model of ` +
      `${subject} has the layer "${String(config.name)}" ` +
      `(${kind})${option === undefined ? '' : ` with ${option} ${String(config[option])}`}: ${reason}. Train the ` +
      'model with a dropout layer in its place, or use --method swag or snapshots.',
  );
}

function mapValues(value: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, change(own)]));
}
