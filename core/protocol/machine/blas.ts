import { z } from 'zod';

export const blasKindSchema = z.enum(['OpenBLAS', 'BLIS', 'MKL', 'Accelerate']);
export type BlasKind = z.output<typeof blasKindSchema>;

/** A system's BLAS (Basic Linear Algebra Subprograms), and how every rank of a run loads it. */
export const blasSchema = z.strictObject({
  kind: blasKindSchema,
  /** The library's file. */
  library: z.string(),
  /** The processor whose kernels OpenBLAS must use (`OPENBLAS_CORETYPE`); null: OpenBLAS chooses. */
  coreType: z.string().nullable(),
});
export type Blas = z.output<typeof blasSchema>;

/** The task of a probing process: measure TensorFlow.js on a backend, or the matrix products of a BLAS. */
export const probeTaskSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('backend'),
    backend: z.enum(['wasm', 'tensorflow', 'webgpu', 'cpu']),
    blas: blasSchema.nullable(),
  }),
  z.strictObject({ kind: z.literal('blas'), blas: blasSchema }),
]);
export type ProbeTask = z.output<typeof probeTaskSchema>;

/** `description` is for users; `gflops` is the speed of the matrix products of a dense layer's training, on one core. */
export const probeReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('measured'), description: z.string(), gflops: z.number() }),
  z.strictObject({ kind: z.literal('unusable'), reason: z.string() }),
]);
export type ProbeReply = z.output<typeof probeReplySchema>;
