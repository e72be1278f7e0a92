import { stackLayer } from '../../../../workers/stacked/stacked-layers.ts';
import { tf, type Tensor, type Variable } from '../../../../workers/tensorflow/tf.ts';
import { errorsOf, computeReference, outputGradient, worse, type OpErrors, type OpResult } from './compare.ts';
import { buildLayer, isPrediction, valuesOf, weightsOf, type LayerCall } from './cases/layer-call.ts';
import type { OpSample, Values } from './op-case.ts';

const members = 3;

/** Whether a sample is one of a layer in training, which a stack of members would apply. */
export function canStack(sample: OpSample): sample is OpSample & { layer: LayerCall } {
  return sample.layer !== undefined && !isPrediction(sample.layer);
}

/**
 * Compares each member of a stack that applies the sample's layer with the reference: values and gradients of inputs
 * and weights.
 */
export async function compareStacked(sample: OpSample & { layer: LayerCall }): Promise<OpErrors> {
  const samples = Array.from({ length: members }, (_, member) => ofMember(sample, member));
  const found = await computeStacked(sample.layer, samples);
  return found
    .map((result, member) => errorsOf(result, computeReference(samples[member])))
    .reduce((a, b) => ({ value: worse(a.value, b.value), gradient: worse(a.gradient ?? 0, b.gradient ?? 0) }));
}

/** The same shapes with other values: the first member's in another order. */
function ofMember(sample: OpSample, member: number): OpSample {
  const turned = ({ shape, data }: Values): Values => ({
    shape,
    data: data.map((_, i) => data[(i + member * Math.ceil(data.length / members)) % data.length]),
  });
  return { ...sample, inputs: sample.inputs.map(turned) };
}

async function computeStacked(call: LayerCall, samples: readonly OpSample[]): Promise<OpResult[]> {
  tf.engine().startScope();
  const layers = samples.map(({ inputs }) => memberLayer(call, inputs));
  const inputs = samples[0].inputs
    .slice(0, call.values)
    .map((_, at) => tf.variable(tf.stack(samples.map((sample) => tensorOf(sample.inputs[at])))));
  const stacked = stackLayer(
    layers,
    layers.map(() => (body) => body()),
  );
  try {
    const values = valuesOf(call)?.map((ids) => tf.expandDims(ids)) ?? inputs;
    const apply = (): Tensor => stacked.apply(values, null)[0];
    const y = apply();
    const size = y.size / members;
    const dy = tf.tile(tf.reshape(tf.tensor(outputGradient(size)), [1, ...y.shape.slice(1)]), [
      members,
      ...y.shape.slice(1).map(() => 1),
    ]);
    const own = layers.flatMap((layer) => variablesOf(call, layer));
    const all = [
      ...inputs,
      ...own.filter((variable) => !isStacked(variable)),
      ...stacked.weights.map((w) => w.variable),
    ];
    const { grads } = tf.variableGrads(() => tf.sum(tf.mul(apply(), dy)).asScalar(), all);
    const gradientOf = async (variable: Variable, member: number): Promise<ArrayLike<number>> => {
      const stack = stacked.weights.find(({ sources }) => sources.includes(variable));
      return stack === undefined ? grads[variable.name].data() : rowOf(grads[stack.variable.name], member);
    };
    return await Promise.all(
      layers.map(async (layer, member): Promise<OpResult> => ({
        shape: y.shape.slice(1),
        value: await rowOf(y, member),
        gradients: await Promise.all([
          ...inputs.map((input) => rowOf(grads[input.name], member)),
          ...variablesOf(call, layer).map((variable) => gradientOf(variable, member)),
        ]),
      })),
    );
  } finally {
    tf.dispose([...inputs, ...layers.flatMap((layer) => layer.weights.map((weight) => weight.read()))]);
    for (const weight of stacked.weights) weight.dispose();
    tf.engine().endScope();
  }

  function isStacked(variable: Variable): boolean {
    return stacked.weights.some(({ sources }) => sources.includes(variable));
  }
}

type Layer = ReturnType<typeof buildLayer>;

/** A member's layer, connected as in a model, with the sample's weights. */
function memberLayer(call: LayerCall, inputs: readonly Values[]): Layer {
  const shapes = inputs.slice(0, call.values).map(({ shape }) => shape);
  const ids = valuesOf(call)?.map(({ shape }) => shape);
  const layer = buildLayer(call, (ids ?? shapes)[0]);
  const symbols = (ids ?? shapes).map((shape) =>
    tf.input({ batchShape: shape, dtype: ids === undefined ? 'float32' : 'int32' }),
  );
  layer.apply(symbols.length === 1 ? symbols[0] : symbols);
  weightsOf(call, layer).forEach((weight, i) => weight.write(tensorOf(inputs[call.values + i])));
  return layer;
}

function variablesOf(call: LayerCall, layer: Layer): Variable[] {
  return weightsOf(call, layer).map((weight) => weight.read() as Variable);
}

function tensorOf({ data, shape }: Values): Tensor {
  return tf.tensor(data, shape);
}

async function rowOf(tensor: Tensor, member: number): Promise<ArrayLike<number>> {
  const values = await tensor.data();
  const size = values.length / members;
  return values.subarray(member * size, (member + 1) * size);
}
