import { z } from 'zod';

/** What a worker process reads from its input, one JSON object a line: the run whose ranks it trains next. */
export const workerTaskSchema = z.strictObject({
  /** The socket of the run's hub. */
  socketPath: z.string(),
  /** The token that each rank sends with its hello. */
  token: z.string(),
});
export type WorkerTask = z.output<typeof workerTaskSchema>;
