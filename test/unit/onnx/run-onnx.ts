import * as ort from 'onnxruntime-node';
import { GraphBuilder, valueInfo } from '../../../workers/onnx/format/graph.ts';
import { encodeModel, writeModel } from '../../../workers/onnx/ensemble-file.ts';
import type { LayersModel } from '../../../workers/tensorflow/tf.ts';

ort.env.logLevel = 'error';

export type OnnxInputs = Readonly<
  Record<
    string,
    { shape: readonly number[]; data: Float32Array | string[] | Float64Array | Uint8Array | BigInt64Array }
  >
>;

/**
 * Runs a file with ONNX Runtime's native library for Node, on one thread of the processor, as tests share few cores.
 * @param given the inputs, or what makes them from the types of the file's inputs (`float32`, `string`)
 * @returns the outputs by name
 */
export async function runOnnx(
  bytes: Uint8Array,
  given: OnnxInputs | ((types: ReadonlyMap<string, string>) => OnnxInputs),
): Promise<Record<string, { shape: number[]; data: Float32Array }>> {
  const session = await ort.InferenceSession.create(bytes, {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const types = new Map(session.inputMetadata.map((input) => [input.name, input.isTensor ? input.type : 'no tensor']));
  const inputs = typeof given === 'function' ? given(types) : given;
  const feeds = Object.entries(inputs).map(([name, { shape, data }]) => [name, tensorOf(data, shape)] as const);
  const results = await session.run(Object.fromEntries(feeds));
  const outputs = Object.entries(results).map(([name, { dims, data }]) => [
    name,
    { shape: [...dims], data: data as Float32Array },
  ]);
  await session.release();
  return Object.fromEntries(outputs);
}

function tensorOf(data: OnnxInputs[string]['data'], shape: readonly number[]): ort.Tensor {
  return Array.isArray(data) ? new ort.Tensor('string', data, shape) : new ort.Tensor(data, shape);
}

/** A model as an ONNX file, with the inputs `x0`, `x1` ... and outputs `y0`, `y1` ... of any batch size. */
export function modelFile(model: LayersModel): Uint8Array {
  const graph = new GraphBuilder();
  const sizes = (shape: readonly (number | null)[]) => [
    'N',
    ...shape.slice(1).map((size, axis) => size ?? `size_${axis}`),
  ];
  const inputs = model.inputs.map(({ shape }, i) => valueInfo(`x${i}`, 'float', sizes(shape)));
  const values = writeModel(
    graph,
    model,
    inputs.map(({ name }) => name),
  );
  values.forEach((value, i) => graph.rename(value, `y${i}`));
  const outputs = model.outputs.map(({ shape }, i) => valueInfo(`y${i}`, 'float', sizes(shape)));
  return encodeModel(graph.finish('model', inputs, outputs), { version: '0', docString: '', metadata: {} });
}
