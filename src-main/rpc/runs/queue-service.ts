import type { RunRequest, StartedRun } from '../../../core/protocol/pages/project-views.ts';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import { withMoved } from '../../../core/protocol/pages/runs/run-queue.ts';
import type { Hub } from '../../hub/hub.ts';
import { changeQueue, enqueue, QueueWork, readQueue } from '../../campaigns/queue-work.ts';
import type { Projects } from '../projects/projects.ts';
import type { RunList } from './run-list.ts';

export interface QueueServiceParts {
  hub: Hub;
  projects: Projects;
  runs: RunList;
  start: (request: RunRequest) => Promise<StartedRun>;
  isBusy: () => boolean;
  onError: (error: unknown) => void;
}

/** The queue of waiting runs for pages. */
export class QueueService {
  readonly #parts: QueueServiceParts;
  readonly #work: QueueWork;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;

  constructor(parts: QueueServiceParts) {
    this.#parts = parts;
    this.#work = new QueueWork({
      hub: parts.hub,
      start: ({ request }) => parts.start(request),
      isBusy: parts.isBusy,
      changed: () => {
        for (const listener of this.#listeners) listener();
      },
      onError: parts.onError,
    });
    this.#unsubscribe = parts.runs.subscribe(() => this.#work.look());
  }

  methods() {
    const { hub, projects } = this.#parts;
    return {
      queue: () => readQueue(),
      enqueueRun: async (request) => {
        const { waiting, place } = await enqueue(hub, request, await projects.describe(request.projectFolder));
        return { id: waiting.id, place };
      },
      moveWaiting: async (id, place) => void (await changeQueue((runs) => withMoved(runs, id, place))),
      removeWaiting: async (id) => void (await changeQueue((runs) => runs.filter((run) => run.id !== id))),
      startWaiting: (id) => this.#work.startNow(id),
    } satisfies Partial<HubApi>;
  }

  /** How many runs wait for this process to start them. */
  get waiting(): number {
    return this.#work.waiting;
  }

  /** Calls the listener after each change of the queue. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#unsubscribe();
    this.#listeners.clear();
    return this.#work.close();
  }
}
