import type { ColumnWarning, ServePrediction, ServeRequest } from '../../core/ensemble/serving.ts';
import type { Tensor } from '../../core/ensemble/tensors.ts';
import type { InferRequest } from './read-request.ts';
import { RequestError } from './given-input.ts';

export interface BatchLimits {
  /** Samples that are predicted together. A request with more is predicted alone. */
  maxBatch: number;
  /** How long a request waits for others, in milliseconds; 0: only while the models are busy. */
  maxDelayMs: number;
  /** Requests that wait; further ones are refused with status 503. */
  maxQueue: number;
}

export type Predict = (request: ServeRequest) => Promise<ServePrediction>;

/** Predictions for one request, and what they could not use of its columns. */
export interface InferAnswer {
  outputs: Tensor[];
  warnings: readonly ColumnWarning[];
}

interface Waiting {
  request: InferRequest;
  /** Requests with the same key can be predicted together. */
  key: string;
  sinceMs: number;
  succeed: (answer: InferAnswer) => void;
  fail: (error: unknown) => void;
}

/** What became of the requests so far. */
export interface RequestCounts {
  /** Requests that wait. */
  waiting: number;
  /** Requests that were answered, and their samples. */
  answered: number;
  samples: number;
  /** Predictions by the models, each of one batch. */
  batches: number;
  /** Requests that failed, those with samples that do not fit included. */
  failed: number;
  /** Requests that were refused because too many waited. */
  refused: number;
  /** Requests whose clients disconnected while they waited; their samples were not predicted. */
  left: number;
}

/** The status of a request without a reader, as in nginx. */
export const clientLeft = 499;

/**
 * Predicts the samples of several requests together, in the order in which they came. One batch is under way at a time.
 */
export class Batcher {
  readonly #predict: Predict;
  readonly #limits: BatchLimits;
  #queue: Waiting[] = [];
  #isBusy = false;
  #isHurried = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #counts = { answered: 0, samples: 0, batches: 0, failed: 0, refused: 0, left: 0 };

  constructor(predict: Predict, limits: BatchLimits) {
    this.#predict = predict;
    this.#limits = limits;
  }

  get counts(): RequestCounts {
    return { waiting: this.#queue.length, ...this.#counts };
  }

  /**
   * @param signal aborted when the client has disconnected: a request that waits leaves the queue
   * @throws RequestError if too many requests wait, or the samples do not fit
   */
  predict(request: InferRequest, signal?: AbortSignal): Promise<InferAnswer> {
    const { maxQueue } = this.#limits;
    if (this.#queue.length >= maxQueue) {
      this.#counts.refused += 1;
      const reason = `${maxQueue} requests wait already, the most that --max-queue allows. Try again later.`;
      return Promise.reject(new RequestError(503, reason));
    }
    return new Promise((succeed, fail) => {
      const waiting: Waiting = { request, key: keyOf(request), sinceMs: performance.now(), succeed, fail };
      signal?.addEventListener('abort', () => this.#leave(waiting), { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Does nothing for a request that waits no longer. */
  #leave(waiting: Waiting): void {
    if (!this.#queue.includes(waiting)) return;
    this.#queue = this.#queue.filter((own) => own !== waiting);
    this.#counts.left += 1;
    waiting.fail(new RequestError(clientLeft, 'The client disconnected.'));
    // A request of another kind may have waited behind it.
    this.#next();
  }

  /** Lets no request wait for others from now on. */
  hurry(): void {
    this.#isHurried = true;
    this.#next();
  }

  #next(): void {
    if (this.#isBusy || this.#queue.length === 0) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#leading();
    const leftMs = batch[0].sinceMs + this.#limits.maxDelayMs - performance.now();
    const samples = batch.reduce((sum, { request }) => sum + request.samples, 0);
    // Requests of another kind wait behind this batch, so it can grow no further.
    const canGrow = samples < this.#limits.maxBatch && batch.length === this.#queue.length;
    if (canGrow && leftMs > 0 && !this.#isHurried) {
      this.#timer = setTimeout(() => this.#next(), leftMs);
      return;
    }
    this.#queue = this.#queue.slice(batch.length);
    this.#isBusy = true;
    void this.#answer(batch).finally(() => {
      this.#isBusy = false;
      this.#next();
    });
  }

  /** The first requests of one kind, with at most as many samples as a batch may have. */
  #leading(): Waiting[] {
    const [{ key }] = this.#queue;
    let samples = 0;
    const end = this.#queue.findIndex((waiting, i) => {
      samples += waiting.request.samples;
      return i > 0 && (waiting.key !== key || samples > this.#limits.maxBatch);
    });
    return end === -1 ? [...this.#queue] : this.#queue.slice(0, end);
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    const [{ request }] = batch;
    const parts = batch.map((waiting) => waiting.request.samples);
    try {
      const tensors = joinTensors(batch.map((waiting) => waiting.request.tensors));
      const { outputs, warnings } = await this.#predict({ tensors, outputs: request.outputs, parts });
      const own = splitTensors(outputs, parts);
      this.#counts.batches += 1;
      this.#counts.answered += batch.length;
      this.#counts.samples += parts.reduce((sum, count) => sum + count, 0);
      batch.forEach(({ succeed }, i) => succeed({ outputs: own[i], warnings: warnings[i] }));
    } catch (error) {
      // A sample of one client must not fail the requests of others.
      const isOwnFault = error instanceof RequestError && error.statusCode === 400;
      if (isOwnFault && batch.length > 1) {
        for (const waiting of batch) await this.#answer([waiting]);
        return;
      }
      this.#counts.failed += batch.length;
      for (const { fail } of batch) fail(error);
    }
  }
}

function keyOf({ tensors, outputs }: InferRequest): string {
  return JSON.stringify([outputs, tensors.map(({ name, datatype, shape }) => [name, datatype, shape.slice(1)])]);
}

/** The samples of several requests as one: requests have the same tensors, apart from their first size. */
function joinTensors(requests: readonly (readonly Tensor[])[]): Tensor[] {
  if (requests.length === 1) return [...requests[0]];
  return requests[0].map((first, i) => {
    const parts = requests.map((tensors) => tensors[i]);
    const samples = parts.reduce((sum, { shape }) => sum + shape[0], 0);
    return {
      ...first,
      shape: [samples, ...first.shape.slice(1)],
      values: joinValues(parts.map(({ values }) => values)),
    };
  });
}

/** The samples of each request, from the outputs for all. */
function splitTensors(outputs: readonly Tensor[], counts: readonly number[]): Tensor[][] {
  if (counts.length === 1) return [[...outputs]];
  let first = 0;
  return counts.map((count) => {
    const from = first;
    first += count;
    return outputs.map((tensor) => {
      const size = tensor.values.length / tensor.shape[0];
      const shape = [count, ...tensor.shape.slice(1)];
      return { ...tensor, shape, values: tensor.values.slice(from * size, first * size) };
    });
  });
}

type Values = Tensor['values'];

function joinValues(parts: readonly Values[]): Values {
  const [first] = parts;
  if (Array.isArray(first)) return parts.flatMap((part) => part as readonly (string | null)[]);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new (first.constructor as new (length: number) => Float64Array)(length);
  let offset = 0;
  for (const part of parts as readonly Float64Array[]) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
