import v8 from 'node:v8';

/** From now on this process serializes values as Electron 45's V8 does: with a header that says version 16, which Node 24 does not read. */
export function writeVersion16(): () => void {
  const { writeHeader } = v8.Serializer.prototype;
  v8.Serializer.prototype.writeHeader = function (this: v8.Serializer) {
    this.writeRawBytes(Buffer.from([0xff, 0x10]));
  };
  return () => void (v8.Serializer.prototype.writeHeader = writeHeader);
}
