import type {
  SetEvaluationResult,
  SetRequest,
  SetEvaluationReply,
  SetEvaluationTask,
} from '../../../core/protocol/run/checkpoint-tasks.ts';
import { isUsable } from '../../backends/choose-blas.ts';
import type { Hub } from '../../hub/hub.ts';
import { askProcess } from '../../processes/standing-process.ts';
import { evaluateEntry } from '../../processes/node-process.ts';
import { sourceOfRun } from '../../runs/configuration/run-source.ts';
import { grantFor } from '../../trust/grant.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';

/** Time to read the data, including a download, and to predict with every member. */
const timeoutMs = 1_800_000;

/** Evaluates checkpoint sets, each in a separate process. */
export class Evaluations {
  readonly #hub: Hub;
  readonly #closing = new AbortController();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /** @throws Error if a checkpoint is missing or damaged, the project is not trusted, or it has no such split */
  async evaluate(id: string, request: SetRequest): Promise<SetEvaluationResult> {
    const { folder } = await this.#hub.find(id);
    const record = await readRunRecord(folder);
    const { blas, project, plan } = record;
    const device = plan[0].device;
    const grant = grantFor({ project: project.folder, read: [folder], device });
    const task: SetEvaluationTask = {
      ...request,
      ...(await sourceOfRun(folder, record)),
      // A BLAS that only the record names is not loaded. Its results differ in the last bits at most.
      blas: blas !== null && (await isUsable(blas)) ? blas : null,
    };
    const reply = await askProcess<SetEvaluationReply>({
      entry: evaluateEntry,
      args: [],
      message: task,
      timeoutMs,
      grant,
      device,
      signal: this.#closing.signal,
      subject: `The evaluation of ${request.members.length} checkpoints has no result`,
    });
    if (reply.type === 'evaluated') return reply.result;
    throw new Error(reply.message);
  }

  /** Aborts all evaluations that still run. */
  close(): void {
    this.#closing.abort();
  }
}
