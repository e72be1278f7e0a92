import { z } from 'zod';
import { controlSchema } from '../messages.ts';

/**
 * Another process of the same user controls a run by connecting to the socket that the run's record names. It sends one request and
 * gets one answer. The token is beside the socket, in the owner-only scratch folder.
 */

export const controlRequestSchema = z.union([controlSchema, z.strictObject({ action: z.literal('abort') })]);
/** A request to a run, from the process that trains it or from another one. */
export type ControlRequest = z.output<typeof controlRequestSchema>;

export const remoteRequestSchema = z.strictObject({
  type: z.literal('remote-request'),
  token: z.string(),
  request: controlRequestSchema,
});
export type RemoteRequest = z.output<typeof remoteRequestSchema>;

export const remoteAnswerSchema = z.strictObject({
  type: z.literal('remote-answer'),
  /** The reason for a refusal; null if the request was accepted. */
  refusal: z.string().nullable(),
});
export type RemoteAnswer = z.output<typeof remoteAnswerSchema>;
