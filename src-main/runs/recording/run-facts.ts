import { z } from 'zod';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import type { RunFacts } from '../../../core/protocol/pages/run-updates.ts';

const factsSchema: z.ZodType<RunFacts> = z.object({
  task: z.string(),
  backend: z.string(),
  parameterCount: z.int(),
  totalSteps: z.int(),
  ensembleMonitor: z.string(),
  samples: z.object({ train: z.int(), validation: z.int(), test: z.int() }),
});

/** What the first rank said of its model when it was ready last; null where none ever was. */
export function factsOf(events: readonly RunEvent[]): RunFacts | null {
  const described = events.findLast(({ kind }) => kind === 'described');
  const parsed = factsSchema.safeParse(described?.data);
  return parsed.success ? parsed.data : null;
}
