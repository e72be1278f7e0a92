import { callsOf, configOf, type Layer, type LayerCall, nestedModel } from '../../exchange/model-calls.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';

/** Which steps of a value count, by the names of the layers that say so; null: all. */
type Mask = string | null;

/** What TensorFlow.js passes on beside values: the last mask, which also layers get whose inputs have none. */
interface Passed {
  last: Mask;
  /** Number of its steps; null: any. */
  steps: number | null;
  /** Layers that compute with masks as TensorFlow.js alone does not. */
  corrected: Layer[];
  /** Takes what layers would do with a mask of which they know nothing. @throws where that is refused */
  refuse: (reason: string) => void;
}

/** Masks of a value: as Keras passes them on, and as TensorFlow.js does. */
interface Masks {
  right: Mask;
  own: Mask;
}

const none: Masks = { right: null, own: null };
const averaging = 'GlobalAveragePooling1D';
const computesWithMask = new Set(['LSTM', 'GRU', 'SimpleRNN', 'RNN', 'Bidirectional', averaging]);
const merging = new Set(['Add', 'Multiply', 'Average', 'Maximum', 'Minimum']);
/** Layers that treat each step by itself. */
const passing = new Set(
  `Dense Activation ReLU LeakyReLU PReLU ELU ThresholdedReLU Dropout SpatialDropout1D SampledDropout AlphaDropout GaussianDropout GaussianNoise
  LayerNormalization Rescaling TimeDistributed`.split(/\s+/),
);
/**
 * Other layers of TensorFlow.js: all but those that a project defines, which get the mask among the options of their
 * call.
 */
const ignoring = new RegExp(
  '^((Separable|Depthwise)?Conv.*|(Max|Average|Global).*Pooling.D|(UpSampling|ZeroPadding|Cropping).*|Flatten|Reshape|Permute|RepeatVector|Dot|' +
    'Softmax|BatchNormalization|MultiHeadAttention|Embedding|CategoryEncoding)$',
);

/**
 * Checks that masks of steps (`embedding` with `maskZero`, `masking`) have the effect that they have in Keras: each
 * layer whose input is masked computes with the mask, or treats steps by themselves and passes it on.
 * @throws Error that names the layer, the layer that made the mask, and the remedy
 */
export function requireUsedMasks(model: LayersModel): void {
  followModel(model, (reason) => {
    throw new Error(reason);
  });
}

/** The layers with whose masks TensorFlow.js alone computes something else (`tensorflow/layers/index.ts`). */
export const correctedByMasks = (model: LayersModel): readonly Layer[] => followModel(model, () => undefined);

function followModel(model: LayersModel, refuse: Passed['refuse']): readonly Layer[] {
  const corrected: Layer[] = [];
  follow(
    model,
    model.inputs.map(() => none),
    { last: null, steps: null, corrected, refuse },
  );
  return corrected;
}

/** @returns the masks of the model's outputs */
function follow(model: LayersModel, inputs: readonly Masks[], passed: Passed): Masks[] {
  const masks = new Map(model.inputs.map(({ name }, i) => [name, inputs[i]]));
  for (const call of callsOf(model)) {
    const given = call.inputs.map(({ name }) => masks.get(name) ?? none);
    if (given.some(({ own }) => own !== null))
      Object.assign(passed, { last: given[0].own, steps: call.inputs[0].shape[1] });
    const after = masksAfter(call, given, passed);
    call.outputs.forEach(({ name }, i) => masks.set(name, after[i] ?? after[0]));
  }
  return model.outputs.map(({ name }) => masks.get(name) ?? none);
}

function masksAfter(call: LayerCall, given: readonly Masks[], passed: Passed): Masks[] {
  const { layer } = call;
  const [{ right }] = given;
  const kind = layer.getClassName();
  const nested = nestedModel(layer);
  if (nested !== null)
    return outOfModel(
      layer,
      follow(
        nested,
        given.map((own) => ({ ...own, own: null })),
        passed,
      ),
      given,
      passed,
    );
  if (kind === 'TimeDistributed') checkEachStep(layer, passed);
  if (kind === 'Embedding' || kind === 'Masking') return made(call, kind, given, passed);
  if (computesWithMask.has(kind)) {
    const found = passed.steps === call.inputs[0].shape[1] ? passed.last : null;
    // A recurrent decoder stops where the mask of the input says so, if its own input has none.
    if (found !== right && (right !== null || kind === averaging)) refuseOther(layer, found, right, passed);
    if (kind === averaging && found !== null) passed.corrected.push(layer);
    const { returnSequences = false } = layer as unknown as { returnSequences?: boolean };
    return returnSequences ? [withSupport(layer, right)] : [none];
  }
  if (merging.has(kind) && given.filter(({ own }) => own !== null).length > 1) passed.corrected.push(layer);
  if (merging.has(kind) || kind === 'Concatenate') return [joined(call, given, passed)];
  if (passing.has(kind)) return [withSupport(layer, right)];
  const masked = given.find((own) => own.right !== null)?.right ?? (kind === 'Softmax' ? passed.last : null);
  if (ignoring.test(kind) && masked !== null) refuseIgnored(layer, masked, passed);
  return [layer.supportsMasking && !ignoring.test(kind) ? withSupport(layer, right) : none];
}

/** In TensorFlow.js, only some of the layers that should pass a mask on do so. */
function withSupport({ supportsMasking }: Layer, right: Mask): Masks {
  return { right, own: supportsMasking ? right : null };
}

function made({ layer }: LayerCall, kind: string, given: readonly Masks[], passed: Passed): Masks[] {
  if (kind === 'Embedding' && given[0].right !== null) refuseIgnored(layer, given[0].right, passed);
  if (kind === 'Embedding' && !configOf(layer).maskZero) return [none];
  const mask = `"${layer.name}"`;
  return [{ right: mask, own: mask }];
}

/** The steps that count in all inputs with a mask. */
function joined({ layer, inputs }: LayerCall, given: readonly Masks[], passed: Passed): Masks {
  const all = (masks: Mask[]): Mask => [...new Set(masks.filter((mask) => mask !== null))].sort().join(' and ') || null;
  const right = all(given.map((own) => own.right));
  const { axis } = configOf(layer);
  const isOfSteps = layer.getClassName() === 'Concatenate' && axis !== -1 && axis !== inputs[0].shape.length - 1;
  if (right !== null && isOfSteps && given.some((own) => own.right === null)) refuseIgnored(layer, right, passed);
  // One after the other, they are the mask of another value.
  const after = (mask: Mask): Mask => (isOfSteps && mask !== null ? `${mask}, joined by "${layer.name}"` : mask);
  return { right: after(right), own: after(all(given.map(({ own }) => own))) };
}

/** A mask that is made inside a model does not leave it in all the ways in which members are trained. */
function outOfModel(layer: Layer, outputs: readonly Masks[], given: readonly Masks[], { refuse }: Passed): Masks[] {
  const known = given.map(({ right }) => right);
  const left = outputs.find(({ right }) => right !== null && !known.includes(right))?.right ?? null;
  if (left !== null)
    refuse(
      `The model's layer "${layer.name}" is a model whose output has the mask of ${left}, which does not leave it ` +
        `in TensorFlow.js. ${remedy} Or put the layers of that model into the outer one.`,
    );
  return outputs.map(({ right }) => ({ right, own: null }));
}

function checkEachStep(layer: Layer, passed: Passed): void {
  const { layer: inner } = layer as unknown as { layer: Layer };
  const nested = nestedModel(inner);
  const steps =
    nested === null
      ? null
      : follow(
          nested,
          nested.inputs.map(() => none),
          passed,
        );
  const left = steps?.find(({ right }) => right !== null)?.right ?? (makesMask(inner) ? `"${inner.name}"` : null);
  if (left !== null) refuseIgnored(layer, left, passed);
  if (passed.last !== null && computesWithMask.has(inner.getClassName())) refuseOther(inner, passed.last, null, passed);
}

function makesMask(layer: Layer): boolean {
  return layer.getClassName() === 'Masking' || (layer.getClassName() === 'Embedding' && configOf(layer).maskZero);
}

const remedy = 'Set maskZero: false or leave out the masking layer; padding then counts like other values.';

function refuseIgnored(layer: Layer, mask: string, { refuse }: Passed): void {
  refuse(
    `The model's layer "${layer.name}" (${layer.getClassName()}) gets steps that the mask of ${mask} leaves out, ` +
      'but computes with all steps: padding would count too. Use layers that obey masks (recurrent ones, ' +
      `globalAveragePooling1d). Otherwise: ${remedy}`,
  );
}

function refuseOther(layer: Layer, found: Mask, right: Mask, { refuse }: Passed): void {
  refuse(
    `The model's layer "${layer.name}" (${layer.getClassName()}) would compute with ` +
      `${found === null ? 'no mask' : `the mask of ${found}`}, but its input has ` +
      `${right === null ? 'none' : `that of ${right}`}: TensorFlow.js gives layers the last mask of those called ` +
      `before. ${remedy}`,
  );
}
