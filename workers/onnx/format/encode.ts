import { create, toBinary } from '@bufbuild/protobuf';
import { fileDesc } from '@bufbuild/protobuf/codegenv2';
import { onnxSchema } from './descriptor.ts';
import type { ModelProto } from './messages.ts';

/** The bytes of an ONNX file. */
export function encodeOnnx(model: ModelProto): Uint8Array<ArrayBuffer> {
  const schema = fileDesc(onnxSchema).messages.find(({ name }) => name === 'ModelProto');
  if (schema === undefined)
    throw new Error('The schema of ONNX has no ModelProto: run scripts/generate/onnx-schema.py.');
  return toBinary(schema, create(schema, model));
}
