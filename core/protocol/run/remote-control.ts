import { z } from 'zod';
import { controlSchema } from './messages.ts';

/**
 * How another process of the same user controls a run: it connects to the socket that the run's record names and sends one
 * request, which is answered once. The token lies beside the socket, in the owner-only scratch folder.
 */

export const controlRequestSchema = z.union([controlSchema, z.strictObject({ action: z.literal('abort') })]);
/** What may be asked of a run by whoever trains it or by another process. */
export type ControlRequest = z.output<typeof controlRequestSchema>;

export const remoteRequestSchema = z.strictObject({
  type: z.literal('remote-request'),
  token: z.string(),
  request: controlRequestSchema,
});
export type RemoteRequest = z.output<typeof remoteRequestSchema>;

export const remoteAnswerSchema = z.strictObject({
  type: z.literal('remote-answer'),
  /** Why it cannot be; null where it was done. */
  refusal: z.string().nullable(),
});
export type RemoteAnswer = z.output<typeof remoteAnswerSchema>;
