/** The part of @bufbuild/protobuf 2.17.0 that ONNX files need. It is loaded only for an export. */

declare module '@bufbuild/protobuf' {
  export interface DescMessage {
    name: string;
  }

  /** @param init fields by their names in camel case; messages in them as plain objects */
  export function create(schema: DescMessage, init: object): object;
  export function toBinary(schema: DescMessage, message: object): Uint8Array<ArrayBuffer>;
}

declare module '@bufbuild/protobuf/codegenv2' {
  import type { DescMessage } from '@bufbuild/protobuf';

  /** @param base64 a FileDescriptorProto */
  export function fileDesc(base64: string): { messages: DescMessage[] };
}
