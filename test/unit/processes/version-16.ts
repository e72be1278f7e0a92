import v8 from 'node:v8';

/**
 * From now on this process serializes values as Electron 45's V8 does: with a header that says version 16, which Node
 * 24 does not read.
 */
export function writeVersion16(): () => void {
  const { prototype } = v8.Serializer;
  const before = Object.getOwnPropertyDescriptor(prototype, 'writeHeader');
  if (before === undefined) throw new Error('This Node serializes values in another way.');
  prototype.writeHeader = function (this: v8.Serializer) {
    this.writeRawBytes(Buffer.from([0xff, 0x10]));
  };
  return () => void Object.defineProperty(prototype, 'writeHeader', before);
}
