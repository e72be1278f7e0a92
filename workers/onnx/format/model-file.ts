import { encodeOnnx } from './encode.ts';
import type { GraphProto } from './messages.ts';
import { mlDomain } from './graph.ts';

/** The version of ONNX's operators: that of ONNX 1.13, the first with all that is written here. */
const operatorSet = 18;
const mlOperatorSet = 3;
/** The version of the file format that belongs to it. */
const irVersion = 8;

/** What a file says about itself. */
export interface ModelDescription {
  /** Of Tutti. */
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
