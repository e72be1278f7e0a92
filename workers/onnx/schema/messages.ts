import type { Message } from '@bufbuild/protobuf';
import { fileDesc, type GenMessage } from '@bufbuild/protobuf/codegenv2';
import { onnxSchema } from './descriptor.ts';

/**
 * The messages of an ONNX file, with the fields that Tutti writes. Names are those of the format in camel case.
 *
 * Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */

/** `AttributeProto.AttributeType`. */
export const attributeType = { float: 1, int: 2, string: 3, graph: 5, floats: 6, ints: 7, strings: 8 } as const;

/** `TensorProto.DataType`. */
export const dataType = { float: 1, uint8: 2, int64: 7, string: 8, bool: 9, double: 11 } as const;
export type DataType = keyof typeof dataType;

export type AttributeProto = Message<'onnx.AttributeProto'> & {
  name: string;
  type: number;
  f: number;
  i: bigint;
  s: Uint8Array;
  g?: GraphProto;
  floats: number[];
  ints: bigint[];
  strings: Uint8Array[];
};

export type NodeProto = Message<'onnx.NodeProto'> & {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  domain: string;
  attribute: AttributeProto[];
};

export type TensorProto = Message<'onnx.TensorProto'> & {
  dims: bigint[];
  dataType: number;
  name: string;
  rawData: Uint8Array;
  stringData: Uint8Array[];
};

type Dimension = Message<'onnx.TensorShapeProto.Dimension'> & {
  value:
    { case: 'dimValue'; value: bigint } | { case: 'dimParam'; value: string } | { case: undefined; value?: undefined };
};

type TensorShapeProto = Message<'onnx.TensorShapeProto'> & { dim: Dimension[] };

type TensorType = Message<'onnx.TypeProto.Tensor'> & { elemType: number; shape?: TensorShapeProto };

type TypeProto = Message<'onnx.TypeProto'> & {
  value: { case: 'tensorType'; value: TensorType } | { case: undefined; value?: undefined };
};

export type ValueInfoProto = Message<'onnx.ValueInfoProto'> & { name: string; type?: TypeProto; docString: string };

export type GraphProto = Message<'onnx.GraphProto'> & {
  node: NodeProto[];
  name: string;
  initializer: TensorProto[];
  docString: string;
  input: ValueInfoProto[];
  output: ValueInfoProto[];
};

type OperatorSetIdProto = Message<'onnx.OperatorSetIdProto'> & { domain: string; version: bigint };

type StringStringEntryProto = Message<'onnx.StringStringEntryProto'> & { key: string; value: string };

export type ModelProto = Message<'onnx.ModelProto'> & {
  irVersion: bigint;
  opsetImport: OperatorSetIdProto[];
  producerName: string;
  producerVersion: string;
  domain: string;
  modelVersion: bigint;
  docString: string;
  graph?: GraphProto;
  metadataProps: StringStringEntryProto[];
};

const file = fileDesc(onnxSchema);

function messageOf<Shape extends Message>(name: string): GenMessage<Shape> {
  const found = file.messages.find((message) => message.name === name);
  if (found === undefined)
    throw new Error(`The schema of ONNX has no message ${name}: run scripts/generate-onnx-schema.py.`);
  return found as unknown as GenMessage<Shape>;
}

export const attributeSchema = messageOf<AttributeProto>('AttributeProto');
export const nodeSchema = messageOf<NodeProto>('NodeProto');
export const tensorSchema = messageOf<TensorProto>('TensorProto');
export const valueInfoSchema = messageOf<ValueInfoProto>('ValueInfoProto');
export const graphSchema = messageOf<GraphProto>('GraphProto');
export const modelSchema = messageOf<ModelProto>('ModelProto');
