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

export interface AttributeProto {
  name: string;
  type: number;
  f?: number;
  i?: bigint;
  s?: Uint8Array;
  g?: GraphProto;
  floats?: number[];
  ints?: bigint[];
  strings?: Uint8Array[];
}

export interface NodeProto {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  domain?: string;
  attribute?: AttributeProto[];
}

export interface TensorProto {
  dims: bigint[];
  dataType: number;
  name: string;
  rawData: Uint8Array;
}

type Dimension = { value: { case: 'dimValue'; value: bigint } | { case: 'dimParam'; value: string } };

interface TensorType {
  elemType: number;
  shape?: { dim: Dimension[] };
}

export interface ValueInfoProto {
  name: string;
  type: { value: { case: 'tensorType'; value: TensorType } };
  docString: string;
}

export interface GraphProto {
  name: string;
  node: NodeProto[];
  initializer?: TensorProto[];
  docString?: string;
  input: ValueInfoProto[];
  output: ValueInfoProto[];
}

export interface ModelProto {
  irVersion: bigint;
  opsetImport: { domain: string; version: bigint }[];
  producerName: string;
  producerVersion: string;
  modelVersion: bigint;
  docString: string;
  graph: GraphProto;
  metadataProps: { key: string; value: string }[];
}
