import { z } from 'zod';

export const blasKindSchema = z.enum(['OpenBLAS', 'BLIS', 'MKL', 'Accelerate']);
export type BlasKind = z.output<typeof blasKindSchema>;

/** A system's BLAS (Basic Linear Algebra Subprograms), and how it is to be loaded: the same by every rank of a run. */
export const blasSchema = z.strictObject({
  kind: blasKindSchema,
  /** The library's file. */
  library: z.string(),
  /** The processor whose kernels OpenBLAS is told to use (`OPENBLAS_CORETYPE`); null: it chooses. */
  coreType: z.string().nullable(),
});
export type Blas = z.output<typeof blasSchema>;

/** What a probing process is to measure: TensorFlow.js on a backend, or matrix products of a BLAS alone. */
export const probeTaskSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('backend'),
    backend: z.enum(['wasm', 'tensorflow', 'webgpu', 'cpu']),
    blas: blasSchema.nullable(),
  }),
  z.strictObject({ kind: z.literal('blas'), blas: blasSchema }),
]);
export type ProbeTask = z.output<typeof probeTaskSchema>;

/** `description` names it for people; `gflops` is the speed of the products that a dense layer trains with, on one core. */
export const probeReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('measured'), description: z.string(), gflops: z.number() }),
  z.strictObject({ kind: z.literal('unusable'), reason: z.string() }),
]);
export type ProbeReply = z.output<typeof probeReplySchema>;
