import type { EnsembleSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { ServedEnsemble, ServePrediction, ServeReply, ServeRequest } from '../../core/ensemble/serving.ts';
import { TimeLimit } from '../../core/node/time-limit.ts';
import type { ModelLink } from './model-process.ts';
import { RequestError } from './given-input.ts';

/** A process that dies once is started again; one that dies again would probably do so for ever. */
const maximumRestarts = 1;

/** What the model needs to know of requests that run the project's code. */
export interface InputsLimit {
  /** How long the project's `inputs` and the prediction after it may take, in milliseconds. */
  inputsTimeoutMs: number;
}

/** The ensemble in its process. Predictions are asked for one after the other. */
export class ServedModel {
  readonly #start: () => ModelLink;
  readonly #task: EnsembleSource;
  readonly #onNotice: (text: string) => void;
  readonly #inputsTimeoutMs: number;
  readonly #lost = Promise.withResolvers<Error>();
  #link: ModelLink;
  #opening = Promise.withResolvers<ServedEnsemble>();
  #asked: { succeed: (prediction: ServePrediction) => void; fail: (error: Error) => void } | null = null;
  #restarts = 0;
  /** Why the process is being ended; null while it works. */
  #hanging: RequestError | null = null;
  #isReady = false;
  #isClosed = false;

  constructor(
    start: () => ModelLink,
    task: EnsembleSource,
    onNotice: (text: string) => void,
    { inputsTimeoutMs }: InputsLimit,
  ) {
    this.#start = start;
    this.#task = task;
    this.#onNotice = onNotice;
    this.#inputsTimeoutMs = inputsTimeoutMs;
    this.#link = this.#connect();
  }

  /** What was opened. @throws Error if the ensemble cannot be opened */
  get opened(): Promise<ServedEnsemble> {
    return this.#opening.promise;
  }

  /** Whether requests are answered now. */
  get isReady(): boolean {
    return this.#isReady && !this.#isClosed;
  }

  /** Resolves with the reason once the process has died and is not started again. */
  get lost(): Promise<Error> {
    return this.#lost.promise;
  }

  /**
   * @throws RequestError if the samples do not fit (400), the process died (503), or the project's `inputs` did not end
   * (504)
   */
  async predict(request: ServeRequest): Promise<ServePrediction> {
    const ensemble = await this.#opening.promise;
    if (this.#isClosed) throw new RequestError(503, 'The server stops.');
    const limit = runsProject(request, ensemble)
      ? new TimeLimit(this.#inputsTimeoutMs, () => this.#endHanging())
      : null;
    try {
      return await new Promise((succeed, fail) => {
        this.#asked = { succeed, fail };
        this.#link.send(request);
      });
    } finally {
      limit?.stop();
    }
  }

  /** Ends the process. */
  close(): void {
    this.#isClosed = true;
    this.#link.kill();
  }

  /**
   * Code that never ends can only be ended with its process. That is no sign of broken models, so it does not count as
   * a death.
   */
  #endHanging(): void {
    const seconds = this.#inputsTimeoutMs / 1000;
    const reason = `The project's inputs() made no samples of these rows within ${seconds} s (--inputs-timeout-s).`;
    this.#hanging = new RequestError(504, reason);
    this.#link.kill();
  }

  #connect(): ModelLink {
    const link = this.#start();
    link.onReply((reply) => this.#take(reply));
    link.onEnd((reason) => this.#ended(reason));
    link.send(this.#task);
    return link;
  }

  #take(reply: ServeReply): void {
    if (reply.type === 'ready') {
      this.#isReady = true;
      this.#opening.resolve(reply.ensemble);
      return;
    }
    const asked = this.#asked;
    this.#asked = null;
    if (reply.type === 'predicted') asked?.succeed({ outputs: reply.outputs, warnings: reply.warnings });
    else if (asked !== null) asked.fail(new RequestError(400, reply.message));
    else this.#giveUp(new Error(reply.message));
  }

  #ended(reason: string): void {
    const hanging = this.#hanging;
    const error = new Error(hanging?.message ?? `The process that predicts ended (${reason}).`);
    this.#hanging = null;
    this.#isReady = false;
    this.#asked?.fail(
      hanging ?? new RequestError(503, 'The process that predicts ended while it predicted these samples. Try again.'),
    );
    this.#asked = null;
    if (this.#isClosed) return;
    if (hanging === null) {
      if (this.#restarts === maximumRestarts) return this.#giveUp(error);
      this.#restarts += 1;
    }
    this.#onNotice(`${error.message} It is started again.`);
    const waiting = this.#opening;
    this.#opening = Promise.withResolvers<ServedEnsemble>();
    // Whoever waits for the first process waits for the second.
    waiting.resolve(this.#opening.promise);
    this.#link = this.#connect();
  }

  #giveUp(reason: Error): void {
    this.close();
    // Perhaps nobody waits for the ensemble any more; the reason is told in `lost` too.
    this.#opening.promise.catch(() => undefined);
    this.#opening.reject(reason);
    this.#lost.resolve(reason);
  }
}

/** Whether a request gives columns for the project's own `inputs`. */
function runsProject({ tensors }: ServeRequest, { takesColumns, inputs }: ServedEnsemble): boolean {
  return takesColumns && !tensors.some(({ name }) => inputs.some((input) => input.name === name));
}
