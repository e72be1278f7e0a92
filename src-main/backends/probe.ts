import { type ProbeReply, probeReplySchema, type ProbeTask } from '../../core/protocol/machine/devices.ts';
import { askProcess } from '../processes/ask-process.ts';
import { probeEntry } from '../processes/node-process.ts';

const probeTimeoutMs = 30_000;

/**
 * Tests and measures a backend or a BLAS in a separate process, because it may crash: a library that was built for
 * another processor does.
 */
export async function probe(task: ProbeTask): Promise<ProbeReply> {
  const subject = task.kind === 'blas' ? `${task.blas.kind} (${task.blas.library})` : `The backend ${task.backend}`;
  try {
    const answer = await askProcess<object>({
      entry: probeEntry,
      args: [],
      grant: null,
      message: task,
      timeoutMs: probeTimeoutMs,
      subject: `${subject} could not be measured`,
    });
    return probeReplySchema.parse(answer);
  } catch (error) {
    return { kind: 'unusable', reason: error instanceof Error ? error.message : String(error) };
  }
}
