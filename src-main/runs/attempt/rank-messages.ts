import type { WireArray } from '../../../core/protocol/wire/frames.ts';
import type { WorkerMessage } from '../../../core/protocol/run/messages.ts';
import { pointBatch } from '../../../core/protocol/wire/points.ts';
import type { RunRecorder } from '../recording/run-recorder.ts';
import type { WorkerHandle } from '../workers/worker-handle.ts';

/** Records a message of a rank. */
export function keepMessage(
  recorder: RunRecorder,
  handle: WorkerHandle,
  message: WorkerMessage,
  arrays: WireArray[],
): void {
  const { rank, pid } = handle;
  switch (message.type) {
    case 'described':
      return describe(recorder, rank, message);
    case 'fitted':
      return recorder.fitted(message.preprocessing);
    case 'state': {
      const { state, epoch, step } = message;
      return recorder.update({ type: 'worker', rank, state, epoch, step, pid });
    }
    case 'progress':
      return advance(recorder, rank, message);
    case 'points':
      recorder.points(rank, pointBatch(message.names, arrays));
      return handle.tellWritten(() => recorder.metrics.writtenPoints(rank));
    case 'event': {
      const { kind, epoch, step, data } = message;
      return recorder.event(rank, kind, message.message, { epoch, step, data });
    }
    case 'checkpoint':
      return recorder.checkpoint(message.record);
    case 'saving-state':
      void recorder.metrics.keep().then((rows) => handle.send({ type: 'recorded', rows }));
      return;
    case 'evaluated':
      return recorder.evaluated(message.set);
    case 'finished':
      return recorder.reached(message.epoch, message.step);
    case 'vacated':
      return;
    case 'failed':
      return fail(recorder, rank, message);
  }
}

function advance(recorder: RunRecorder, rank: number, message: WorkerMessage & { type: 'progress' }): void {
  const { epoch, step, samplesPerSecond, memoryBytes } = message;
  const totalSteps = recorder.facts?.totalSteps ?? 0;
  recorder.update({ type: 'progress', rank, epoch, step, totalSteps, samplesPerSecond, memoryBytes });
}

/** Records the first error of a group, and none that follows from it. */
function fail(recorder: RunRecorder, rank: number, message: WorkerMessage & { type: 'failed' }): void {
  const { isConsequence, error, stack } = message;
  if (!isConsequence) recorder.event(rank, 'failed', error.message, { data: { stack } });
}

/** Records the description of the model. All ranks send the same one, so only the first is recorded. */
function describe(recorder: RunRecorder, rank: number, message: WorkerMessage & { type: 'described' }): void {
  const { project, versions, task, backend, parameterCount, largestProduct, totalSteps, ensembleMonitor, samples } =
    message;
  if (recorder.facts !== null) return;
  const facts = { task, backend, parameterCount, largestProduct, totalSteps, ensembleMonitor, samples };
  recorder.described(facts, versions);
  const about = `${project.name}: ${parameterCount} parameters, ${totalSteps} steps, ${backend}.`;
  recorder.event(rank, 'described', about, { data: { ...versions, ...facts } });
}
