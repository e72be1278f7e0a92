import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import { type Shape, UnsupportedLayerError, type WrittenFile } from '../exchange/model-calls.ts';
import { outputCount } from '../../core/metrics/registry/metric.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { GraphBuilder, mlDomain } from './format/graph.ts';
import { type GraphInputs, writeInputs } from './inputs.ts';
import type { GraphProto, ModelProto, ValueInfoProto } from './format/messages.ts';
import { type Combining, outputNames, writeOutputs } from './outputs.ts';
import { type ModelTarget, walkModel } from '../exchange/walk-model.ts';
import { type Convert, LayerContext } from './layers/context.ts';
import { keptSteps, mergeLayers, shapeLayers } from './layers/shapes.ts';
import { create, toBinary } from '@bufbuild/protobuf';
import { fileDesc } from '@bufbuild/protobuf/codegenv2';
import { activationLayers } from './layers/activations.ts';
import { imageLayers } from './layers/channels.ts';
import { convolutionLayers } from './layers/convolutions.ts';
import { normalizationLayers } from './layers/normalization.ts';
import { recurrentLayers } from './layers/recurrent.ts';

/** The layers that can be written as ONNX, by their classes in TensorFlow.js. */
const onnxLayers: ReadonlyMap<string, Convert> = new Map(
  Object.entries({
    ...activationLayers,
    ...convolutionLayers,
    ...imageLayers,
    ...mergeLayers,
    ...normalizationLayers,
    ...recurrentLayers,
    ...shapeLayers,
  }),
);

/** The largest file that protobuf readers take. */
const maximumBytes = 2 ** 31 - 1;

/**
 * Writes an ensemble as one ONNX file: preprocessing, the members' models, and their combination. Members may share a
 * model, whose weights change from call to call.
 * @throws UnsupportedLayerError for a layer that ONNX lacks; Error where members take different inputs, or the file
 * would be too large
 */
export class OnnxEnsembleWriter {
  readonly #ensemble: EnsembleDescription;
  readonly #preprocessing: Preprocessing | null;
  readonly #calibration: Calibration | null;
  readonly #graph = new GraphBuilder();
  readonly #members: string[][] = [];
  #inputs: GraphInputs | null = null;
  #shapes = '';
  #outputShapes: Shape[] = [];

  /** @param calibration what was fitted on held-out predictions of these members */
  constructor(
    ensemble: EnsembleDescription,
    preprocessing: Preprocessing | null,
    calibration: Calibration | null = null,
  ) {
    this.#calibration = calibration;
    this.#ensemble = ensemble;
    this.#preprocessing = preprocessing;
  }

  /** Adds the next member, in the order of the description. Reads the model's weights before it returns. */
  add(model: LayersModel): void {
    const shapes = JSON.stringify(model.inputs.map(({ shape }) => shape));
    if (this.#inputs === null) {
      this.#inputs = writeInputs(this.#graph, model, this.#preprocessing, this.#reservedNames());
      this.#shapes = shapes;
      this.#outputShapes = model.outputs.map(({ shape }) => shape);
    }
    const position = this.#members.length;
    if (shapes !== this.#shapes) {
      throw new Error(
        `The model of member ${position} takes inputs of shapes ${shapes}, that of member 0 ${this.#shapes}: one ` +
          'file needs the same. Export the checkpoints instead.',
      );
    }
    const { values } = this.#inputs;
    this.#members.push(this.#graph.within(`member_${position}`, () => writeModel(this.#graph, model, values)));
  }

  /** @param version of Tutti @returns the file */
  finish(version: string): WrittenFile[] {
    const { task, name, set } = this.#ensemble;
    if (this.#inputs === null) throw new Error('An ensemble needs one member or more.');
    const outputs = this.#writeOutputs();
    requireRoom(this.#graph);
    const docString = `Ensemble of ${this.#members.length} members (${task}) of the run ${name}, checkpoints ${set}.`;
    const graph = this.#graph.finish('ensemble', this.#inputs.infos, outputs, docString);
    const content = encodeModel(graph, { version, docString, metadata: this.#metadata(this.#inputs.kind) });
    return [{ path: 'ensemble.onnx', content }];
  }

  /** The outputs of the run's task, then further ones of the models, whose names begin with their own. */
  #writeOutputs(): ValueInfoProto[] {
    const { task, combination, outputs: further } = this.#ensemble;
    const own: Combining = { task, combination, target: this.#preprocessing?.target, calibration: this.#calibration };
    const heads = [
      { prefix: '', combining: own },
      ...further.map((output) => ({ prefix: `${output.name}/`, combining: uncalibrated(output.task) })),
    ];
    let first = 0;
    return heads.flatMap(({ prefix, combining }) => {
      const start = first;
      first += outputCount(combining.task);
      const members = this.#members.map((outputs) => outputs.slice(start, first));
      return writeOutputs(this.#graph, members, this.#outputShapes[start], { ...combining, prefix });
    });
  }

  #reservedNames(): string[] {
    const prefixes = ['', ...this.#ensemble.outputs.map(({ name }) => `${name}/`)];
    return prefixes.flatMap((prefix) => outputNames.map((name) => `${prefix}${name}`));
  }

  #metadata(inputs: GraphInputs['kind']): Record<string, string> {
    const { task, run, name, set, combination, classNames, quantiles, outputs, members } = this.#ensemble;
    const target = this.#preprocessing?.target;
    const targets = target?.kind === 'values' ? target.columns : null;
    const places = members.map(({ rank, epoch, step }) => ({ rank, epoch, step }));
    const further = outputs.length === 0 ? null : outputs.map(describeOutput);
    const lists = { class_names: classNames, quantiles, targets, outputs: further, members: places };
    const given = Object.entries(lists).filter(([, value]) => value !== null);
    return {
      task,
      run,
      name,
      set,
      combination,
      inputs,
      calibration: this.#calibration?.method ?? 'none',
      ...Object.fromEntries(given.map(([key, value]) => [key, JSON.stringify(value)])),
    };
  }
}

/** Nothing is fitted for further outputs. */
function uncalibrated(task: Combining['task']): Combining {
  return { task, combination: 'mean', target: undefined, calibration: null };
}

function describeOutput({ name, task, classNames, quantiles }: EnsembleDescription['outputs'][number]) {
  return { name, task, class_names: classNames, quantiles };
}

function requireRoom(graph: GraphBuilder): void {
  const bytes = graph.initializers.reduce((sum, { rawData }) => sum + rawData.byteLength, 0);
  if (bytes < maximumBytes) return;
  throw new Error(
    `The members' weights take ${bytes} bytes, and an ONNX file has at most ${maximumBytes}. Export fewer ` +
      'members, or the checkpoints.',
  );
}

/**
 * Writes a model's forward pass in inference mode as nodes.
 * @param inputs names of the values of the model's inputs, in their order
 * @returns the names of its outputs
 * @throws UnsupportedLayerError for a layer that ONNX lacks
 */
export function writeModel(graph: GraphBuilder, model: LayersModel, inputs: readonly string[]): string[] {
  return walkModel(model, inputs, targetOf(graph));
}

function targetOf(graph: GraphBuilder): ModelTarget {
  return {
    format: 'ONNX',
    within: ({ name }, write) => graph.within(name, write),
    layer(layer, inputs) {
      const convert = onnxLayers.get(layer.getClassName());
      if (convert === undefined) throw new UnsupportedLayerError(layer, 'ONNX');
      return [convert(new LayerContext(graph, layer, inputs))].flat();
    },
    reshape: (x, shape) => graph.op('Reshape', [x, graph.integers(shape)]),
    keptSteps: (x, maskValue) => keptSteps(graph, x, maskValue),
    differentFromZero(ids) {
      const isZero = graph.op('Equal', [graph.op('Cast', [ids], { to: 1 }), graph.scalar(0)]);
      return graph.op('Cast', [graph.op('Not', [isZero])], { to: 1 });
    },
    both: (mask, other) => (mask === other ? mask : graph.op('Mul', [mask, other])),
  };
}

/** The version of ONNX's operators: that of ONNX 1.13, the first with all that is written here. */
const operatorSet = 18;
const mlOperatorSet = 3;
/** The version of the file format that belongs to it. */
const irVersion = 8;

/** What a file says about itself. */
interface ModelDescription {
  /** The version of Tutti. */
  version: string;
  docString: string;
  metadata: Readonly<Record<string, string>>;
}

/** The bytes of an ONNX file. */
export function encodeModel(
  graph: GraphProto,
  { version, docString, metadata }: ModelDescription,
): Uint8Array<ArrayBuffer> {
  return encodeOnnx({
    irVersion: BigInt(irVersion),
    opsetImport: [
      { domain: '', version: BigInt(operatorSet) },
      { domain: mlDomain, version: BigInt(mlOperatorSet) },
    ],
    producerName: 'tutti-ensembles',
    producerVersion: version,
    modelVersion: 1n,
    docString,
    graph,
    metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  });
}

/** The bytes of an ONNX file. */
function encodeOnnx(model: ModelProto): Uint8Array<ArrayBuffer> {
  const schema = fileDesc(onnxSchema).messages.find(({ name }) => name === 'ModelProto');
  if (schema === undefined)
    throw new Error('The schema of ONNX has no ModelProto: run scripts/generate/onnx-schema.py.');
  return toBinary(schema, create(schema, model));
}

/**
 * The schema of ONNX files, onnx-ml.proto of the package onnx 1.23.2: a FileDescriptorProto in base64, without
 * comments. Written by scripts/generate/onnx-schema.py.
 */
const onnxSchema =
  'ChJvbm54L29ubngtbWwucHJvdG8SBG9ubngi2wUKDkF0dHJpYnV0ZVByb3RvEgwKBG5hbWUYASABKAkSFQoNcmVmX2F0dHJfbmFtZRgVIAEoCRISCgpkb2Nfc3RyaW5nGA0gASgJEjAKBHR5cGUYFCABKA4yIi5vbm54LkF0dHJpYnV0ZVByb3RvLkF0dHJpYnV0ZVR5cGUSCQoBZhgCIAEoAhIJCgFpGAMgASgDEgkKAXMYBCABKAwSHAoBdBgFIAEoCzIRLm9ubnguVGVuc29yUHJvdG8SGwoBZxgGIAEoCzIQLm9ubnguR3JhcGhQcm90bxIuCg1zcGFyc2VfdGVuc29yGBYgASgLMhcub25ueC5TcGFyc2VUZW5zb3JQcm90bxIbCgJ0cBgOIAEoCzIPLm9ubnguVHlwZVByb3RvEg4KBmZsb2F0cxgHIAMoAhIMCgRpbnRzGAggAygDEg8KB3N0cmluZ3MYCSADKAwSIgoHdGVuc29ycxgKIAMoCzIRLm9ubnguVGVuc29yUHJvdG8SIAoGZ3JhcGhzGAsgAygLMhAub25ueC5HcmFwaFByb3RvEi8KDnNwYXJzZV90ZW5zb3JzGBcgAygLMhcub25ueC5TcGFyc2VUZW5zb3JQcm90bxIkCgt0eXBlX3Byb3RvcxgPIAMoCzIPLm9ubnguVHlwZVByb3RvItkBCg1BdHRyaWJ1dGVUeXBlEg0KCVVOREVGSU5FRBAAEgkKBUZMT0FUEAESBwoDSU5UEAISCgoGU1RSSU5HEAMSCgoGVEVOU09SEAQSCQoFR1JBUEgQBRIRCg1TUEFSU0VfVEVOU09SEAsSDgoKVFlQRV9QUk9UTxANEgoKBkZMT0FUUxAGEggKBElOVFMQBxILCgdTVFJJTkdTEAgSCwoHVEVOU09SUxAJEgoKBkdSQVBIUxAKEhIKDlNQQVJTRV9URU5TT1JTEAwSDwoLVFlQRV9QUk9UT1MQDkoECAwQDUoECBAQFFIBdiKHAQoOVmFsdWVJbmZvUHJvdG8SDAoEbmFtZRgBIAEoCRIdCgR0eXBlGAIgASgLMg8ub25ueC5UeXBlUHJvdG8SEgoKZG9jX3N0cmluZxgDIAEoCRI0Cg5tZXRhZGF0YV9wcm9wcxgEIAMoCzIcLm9ubnguU3RyaW5nU3RyaW5nRW50cnlQcm90byKhAgoJTm9kZVByb3RvEg0KBWlucHV0GAEgAygJEg4KBm91dHB1dBgCIAMoCRIMCgRuYW1lGAMgASgJEg8KB29wX3R5cGUYBCABKAkSDgoGZG9tYWluGAcgASgJEhAKCG92ZXJsb2FkGAggASgJEicKCWF0dHJpYnV0ZRgFIAMoCzIULm9ubnguQXR0cmlidXRlUHJvdG8SEgoKZG9jX3N0cmluZxgGIAEoCRI0Cg5tZXRhZGF0YV9wcm9wcxgJIAMoCzIcLm9ubnguU3RyaW5nU3RyaW5nRW50cnlQcm90bxJBChVkZXZpY2VfY29uZmlndXJhdGlvbnMYCiADKAsyIi5vbm54Lk5vZGVEZXZpY2VDb25maWd1cmF0aW9uUHJvdG8iMgoUSW50SW50TGlzdEVudHJ5UHJvdG8SCwoDa2V5GAEgASgDEg0KBXZhbHVlGAIgAygDIoABChxOb2RlRGV2aWNlQ29uZmlndXJhdGlvblByb3RvEhgKEGNvbmZpZ3VyYXRpb25faWQYASABKAkSLgoNc2hhcmRpbmdfc3BlYxgCIAMoCzIXLm9ubnguU2hhcmRpbmdTcGVjUHJvdG8SFgoOcGlwZWxpbmVfc3RhZ2UYAyABKAUiowEKEVNoYXJkaW5nU3BlY1Byb3RvEhMKC3RlbnNvcl9uYW1lGAEgASgJEg4KBmRldmljZRgCIAMoAxI9ChlpbmRleF90b19kZXZpY2VfZ3JvdXBfbWFwGAMgAygLMhoub25ueC5JbnRJbnRMaXN0RW50cnlQcm90bxIqCgtzaGFyZGVkX2RpbRgEIAMoCzIVLm9ubnguU2hhcmRlZERpbVByb3RvIlUKD1NoYXJkZWREaW1Qcm90bxIMCgRheGlzGAEgASgDEjQKD3NpbXBsZV9zaGFyZGluZxgCIAMoCzIbLm9ubnguU2ltcGxlU2hhcmRlZERpbVByb3RvIlwKFVNpbXBsZVNoYXJkZWREaW1Qcm90bxITCglkaW1fdmFsdWUYASABKANIABITCglkaW1fcGFyYW0YAiABKAlIABISCgpudW1fc2hhcmRzGAMgASgDQgUKA2RpbSLWAQoRVHJhaW5pbmdJbmZvUHJvdG8SKAoOaW5pdGlhbGl6YXRpb24YASABKAsyEC5vbm54LkdyYXBoUHJvdG8SIwoJYWxnb3JpdGhtGAIgASgLMhAub25ueC5HcmFwaFByb3RvEjwKFmluaXRpYWxpemF0aW9uX2JpbmRpbmcYAyADKAsyHC5vbm54LlN0cmluZ1N0cmluZ0VudHJ5UHJvdG8SNAoOdXBkYXRlX2JpbmRpbmcYBCADKAsyHC5vbm54LlN0cmluZ1N0cmluZ0VudHJ5UHJvdG8iogMKCk1vZGVsUHJvdG8SEgoKaXJfdmVyc2lvbhgBIAEoAxIuCgxvcHNldF9pbXBvcnQYCCADKAsyGC5vbm54Lk9wZXJhdG9yU2V0SWRQcm90bxIVCg1wcm9kdWNlcl9uYW1lGAIgASgJEhgKEHByb2R1Y2VyX3ZlcnNpb24YAyABKAkSDgoGZG9tYWluGAQgASgJEhUKDW1vZGVsX3ZlcnNpb24YBSABKAMSEgoKZG9jX3N0cmluZxgGIAEoCRIfCgVncmFwaBgHIAEoCzIQLm9ubnguR3JhcGhQcm90bxI0Cg5tZXRhZGF0YV9wcm9wcxgOIAMoCzIcLm9ubnguU3RyaW5nU3RyaW5nRW50cnlQcm90bxIuCg10cmFpbmluZ19pbmZvGBQgAygLMhcub25ueC5UcmFpbmluZ0luZm9Qcm90bxImCglmdW5jdGlvbnMYGSADKAsyEy5vbm54LkZ1bmN0aW9uUHJvdG8SNQoNY29uZmlndXJhdGlvbhgaIAMoCzIeLm9ubnguRGV2aWNlQ29uZmlndXJhdGlvblByb3RvIk0KGERldmljZUNvbmZpZ3VyYXRpb25Qcm90bxIMCgRuYW1lGAEgASgJEhMKC251bV9kZXZpY2VzGAIgASgFEg4KBmRldmljZRgDIAMoCSI0ChZTdHJpbmdTdHJpbmdFbnRyeVByb3RvEgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCSJrChBUZW5zb3JBbm5vdGF0aW9uEhMKC3RlbnNvcl9uYW1lGAEgASgJEkIKHHF1YW50X3BhcmFtZXRlcl90ZW5zb3JfbmFtZXMYAiADKAsyHC5vbm54LlN0cmluZ1N0cmluZ0VudHJ5UHJvdG8i1AMKCkdyYXBoUHJvdG8SHQoEbm9kZRgBIAMoCzIPLm9ubnguTm9kZVByb3RvEgwKBG5hbWUYAiABKAkSJgoLaW5pdGlhbGl6ZXIYBSADKAsyES5vbm54LlRlbnNvclByb3RvEjMKEnNwYXJzZV9pbml0aWFsaXplchgPIAMoCzIXLm9ubnguU3BhcnNlVGVuc29yUHJvdG8SEgoKZG9jX3N0cmluZxgKIAEoCRIjCgVpbnB1dBgLIAMoCzIULm9ubnguVmFsdWVJbmZvUHJvdG8SJAoGb3V0cHV0GAwgAygLMhQub25ueC5WYWx1ZUluZm9Qcm90bxIoCgp2YWx1ZV9pbmZvGA0gAygLMhQub25ueC5WYWx1ZUluZm9Qcm90bxI3ChdxdWFudGl6YXRpb25fYW5ub3RhdGlvbhgOIAMoCzIWLm9ubnguVGVuc29yQW5ub3RhdGlvbhI0Cg5tZXRhZGF0YV9wcm9wcxgQIAMoCzIcLm9ubnguU3RyaW5nU3RyaW5nRW50cnlQcm90b0oECAMQBEoECAQQBUoECAYQClIKaXJfdmVyc2lvblIQcHJvZHVjZXJfdmVyc2lvblIMcHJvZHVjZXJfdGFnUgZkb21haW4iogcKC1RlbnNvclByb3RvEgwKBGRpbXMYASADKAMSEQoJZGF0YV90eXBlGAIgASgFEioKB3NlZ21lbnQYAyABKAsyGS5vbm54LlRlbnNvclByb3RvLlNlZ21lbnQSFgoKZmxvYXRfZGF0YRgEIAMoAkICEAESFgoKaW50MzJfZGF0YRgFIAMoBUICEAESEwoLc3RyaW5nX2RhdGEYBiADKAwSFgoKaW50NjRfZGF0YRgHIAMoA0ICEAESDAoEbmFtZRgIIAEoCRISCgpkb2Nfc3RyaW5nGAwgASgJEhAKCHJhd19kYXRhGAkgASgMEjMKDWV4dGVybmFsX2RhdGEYDSADKAsyHC5vbm54LlN0cmluZ1N0cmluZ0VudHJ5UHJvdG8SNQoNZGF0YV9sb2NhdGlvbhgOIAEoDjIeLm9ubnguVGVuc29yUHJvdG8uRGF0YUxvY2F0aW9uEhcKC2RvdWJsZV9kYXRhGAogAygBQgIQARIXCgt1aW50NjRfZGF0YRgLIAMoBEICEAESNAoObWV0YWRhdGFfcHJvcHMYECADKAsyHC5vbm54LlN0cmluZ1N0cmluZ0VudHJ5UHJvdG8aJQoHU2VnbWVudBINCgViZWdpbhgBIAEoAxILCgNlbmQYAiABKAMijgMKCERhdGFUeXBlEg0KCVVOREVGSU5FRBAAEgkKBUZMT0FUEAESCQoFVUlOVDgQAhIICgRJTlQ4EAMSCgoGVUlOVDE2EAQSCQoFSU5UMTYQBRIJCgVJTlQzMhAGEgkKBUlOVDY0EAcSCgoGU1RSSU5HEAgSCAoEQk9PTBAJEgsKB0ZMT0FUMTYQChIKCgZET1VCTEUQCxIKCgZVSU5UMzIQDBIKCgZVSU5UNjQQDRINCglDT01QTEVYNjQQDhIOCgpDT01QTEVYMTI4EA8SDAoIQkZMT0FUMTYQEBIQCgxGTE9BVDhFNE0zRk4QERISCg5GTE9BVDhFNE0zRk5VWhASEg4KCkZMT0FUOEU1TTIQExISCg5GTE9BVDhFNU0yRk5VWhAUEgkKBVVJTlQ0EBUSCAoESU5UNBAWEg4KCkZMT0FUNEUyTTEQFxIOCgpGTE9BVDhFOE0wEBgSCQoFVUlOVDIQGRIICgRJTlQyEBoSDgoKRkxPQVQ2RTJNMxAbEg4KCkZMT0FUNkUzTTIQHCIpCgxEYXRhTG9jYXRpb24SCwoHREVGQVVMVBAAEgwKCEVYVEVSTkFMEAEiaAoRU3BhcnNlVGVuc29yUHJvdG8SIQoGdmFsdWVzGAEgASgLMhEub25ueC5UZW5zb3JQcm90bxIiCgdpbmRpY2VzGAIgASgLMhEub25ueC5UZW5zb3JQcm90bxIMCgRkaW1zGAMgAygDIpUBChBUZW5zb3JTaGFwZVByb3RvEi0KA2RpbRgBIAMoCzIgLm9ubnguVGVuc29yU2hhcGVQcm90by5EaW1lbnNpb24aUgoJRGltZW5zaW9uEhMKCWRpbV92YWx1ZRgBIAEoA0gAEhMKCWRpbV9wYXJhbRgCIAEoCUgAEhIKCmRlbm90YXRpb24YAyABKAlCBwoFdmFsdWUitwUKCVR5cGVQcm90bxItCgt0ZW5zb3JfdHlwZRgBIAEoCzIWLm9ubnguVHlwZVByb3RvLlRlbnNvckgAEjEKDXNlcXVlbmNlX3R5cGUYBCABKAsyGC5vbm54LlR5cGVQcm90by5TZXF1ZW5jZUgAEicKCG1hcF90eXBlGAUgASgLMhMub25ueC5UeXBlUHJvdG8uTWFwSAASMQoNb3B0aW9uYWxfdHlwZRgJIAEoCzIYLm9ubnguVHlwZVByb3RvLk9wdGlvbmFsSAASOgoSc3BhcnNlX3RlbnNvcl90eXBlGAggASgLMhwub25ueC5UeXBlUHJvdG8uU3BhcnNlVGVuc29ySAASLQoLb3BhcXVlX3R5cGUYByABKAsyFi5vbm54LlR5cGVQcm90by5PcGFxdWVIABISCgpkZW5vdGF0aW9uGAYgASgJGkIKBlRlbnNvchIRCgllbGVtX3R5cGUYASABKAUSJQoFc2hhcGUYAiABKAsyFi5vbm54LlRlbnNvclNoYXBlUHJvdG8aLgoIU2VxdWVuY2USIgoJZWxlbV90eXBlGAEgASgLMg8ub25ueC5UeXBlUHJvdG8aPAoDTWFwEhAKCGtleV90eXBlGAEgASgFEiMKCnZhbHVlX3R5cGUYAiABKAsyDy5vbm54LlR5cGVQcm90bxouCghPcHRpb25hbBIiCgllbGVtX3R5cGUYASABKAsyDy5vbm54LlR5cGVQcm90bxpICgxTcGFyc2VUZW5zb3ISEQoJZWxlbV90eXBlGAEgASgFEiUKBXNoYXBlGAIgASgLMhYub25ueC5UZW5zb3JTaGFwZVByb3RvGjgKBk9wYXF1ZRIOCgZkb21haW4YASABKAkSDAoEbmFtZRgCIAEoCUoECAMQBFIKcGFyYW1ldGVyc0IHCgV2YWx1ZSI1ChJPcGVyYXRvclNldElkUHJvdG8SDgoGZG9tYWluGAEgASgJEg8KB3ZlcnNpb24YAiABKAMihgMKDUZ1bmN0aW9uUHJvdG8SDAoEbmFtZRgBIAEoCRINCgVpbnB1dBgEIAMoCRIOCgZvdXRwdXQYBSADKAkSEQoJYXR0cmlidXRlGAYgAygJEi0KD2F0dHJpYnV0ZV9wcm90bxgLIAMoCzIULm9ubnguQXR0cmlidXRlUHJvdG8SHQoEbm9kZRgHIAMoCzIPLm9ubnguTm9kZVByb3RvEhIKCmRvY19zdHJpbmcYCCABKAkSLgoMb3BzZXRfaW1wb3J0GAkgAygLMhgub25ueC5PcGVyYXRvclNldElkUHJvdG8SDgoGZG9tYWluGAogASgJEhAKCG92ZXJsb2FkGA0gASgJEigKCnZhbHVlX2luZm8YDCADKAsyFC5vbm54LlZhbHVlSW5mb1Byb3RvEjQKDm1ldGFkYXRhX3Byb3BzGA4gAygLMhwub25ueC5TdHJpbmdTdHJpbmdFbnRyeVByb3RvSgQIAhADSgQIAxAEUg1zaW5jZV92ZXJzaW9uUgZzdGF0dXMqggMKB1ZlcnNpb24SEgoOX1NUQVJUX1ZFUlNJT04QABIZChVJUl9WRVJTSU9OXzIwMTdfMTBfMTAQARIZChVJUl9WRVJTSU9OXzIwMTdfMTBfMzAQAhIYChRJUl9WRVJTSU9OXzIwMTdfMTFfMxADEhgKFElSX1ZFUlNJT05fMjAxOV8xXzIyEAQSGAoUSVJfVkVSU0lPTl8yMDE5XzNfMTgQBRIYChRJUl9WRVJTSU9OXzIwMTlfOV8xORAGEhcKE0lSX1ZFUlNJT05fMjAyMF81XzgQBxIYChRJUl9WRVJTSU9OXzIwMjFfN18zMBAIEhcKE0lSX1ZFUlNJT05fMjAyM181XzUQCRIYChRJUl9WRVJTSU9OXzIwMjRfM18yNRAKEhkKFUlSX1ZFUlNJT05fMjAyNV8wNV8xMhALEhkKFUlSX1ZFUlNJT05fMjAyNV8wOF8yNhAMEhkKFUlSX1ZFUlNJT05fMjAyNV8xMV8wNhANEg4KCklSX1ZFUlNJT04QDiouCg5PcGVyYXRvclN0YXR1cxIQCgxFWFBFUklNRU5UQUwQABIKCgZTVEFCTEUQAUICSAM=';
