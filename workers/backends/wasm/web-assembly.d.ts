/**
 * The parts of WebAssembly that the kernels' loader uses. Only the DOM's types declare them, which workers do not
 * include.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(pages: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
  interface Module {
    readonly [Symbol.toStringTag]: string;
  }
  const Module: new (bytes: Uint8Array) => Module;
  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory } });
    readonly exports: Record<string, unknown>;
  }
  function validate(bytes: Uint8Array): boolean;
  function instantiate(
    bytes: Uint8Array,
    imports: { env: { memory: Memory } },
  ): Promise<{ instance: Instance; module: Module }>;
}
