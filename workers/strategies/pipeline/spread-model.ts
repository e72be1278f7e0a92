import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Dataset } from '../../data/dataset.ts';
import { openBatches } from '../../data/streams/open-batches.ts';
import type { Member } from '../../member/member.ts';
import { evaluationRows, PredictionParts } from '../../member/predict.ts';
import type { Predictions } from '../../member/predictions.ts';
import type { Task } from '../../member/tasks.ts';
import { readWeights } from '../../member/weights.ts';
import { runCalls } from '../../segments/run-calls.ts';
import { graphOf } from '../../tensorflow/model-graph.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import type { SpreadModel } from '../strategy.ts';
import { type ModelStage, requireFloats, tensorOf } from './stage-passes.ts';

/** A model whose layers are spread over ranks, as one. Each of them calls every method at the same time. */
export class PipelinedModel implements SpreadModel {
  readonly #member: Member;
  readonly #group: ProcessGroup;
  readonly #task: Task;
  readonly #stage: ModelStage;
  readonly #inputs: readonly number[];

  constructor(member: Member, group: ProcessGroup, task: Task, stage: ModelStage) {
    this.#member = member;
    this.#group = group;
    this.#task = task;
    this.#stage = stage;
    this.#inputs = graphOf(member.model).inputs;
  }

  /** Each block of samples passes through all stages. The last one's predictions go to every rank of the model. */
  async predict(dataset: Dataset): Promise<Predictions> {
    const { rank } = this.#group;
    const { stage, ranks } = this.#stage;
    const last = ranks[ranks.length - 1];
    const parts = new PredictionParts(this.#task);
    const batches = openBatches(dataset);
    for (const indices of evaluationRows(dataset)) {
      const batch = await batches.batch(indices, { epoch: 0, batch: 0, step: 0 });
      const input = stage === 0 ? null : tensorOf(await this.#group.receiveFrom(ranks[stage - 1]));
      const compute = (): Tensor[] => this.#outputs([this.#member.open(batch).inputs].flat(), input);
      if (rank === last) await parts.add(compute);
      else await this.#pass(compute, ranks[stage + 1]);
      input?.dispose();
    }
    return this.#share(rank === last ? parts.whole() : null, last);
  }

  /** All weights, on the first rank; the own ones on the others. */
  async readWeights(): Promise<NamedTensor[]> {
    const own = await readWeights(this.#member.model);
    const [first, ...others] = this.#stage.ranks;
    if (this.#group.rank !== first) {
      for (const { data, shape } of own) this.#group.send(data as Float32Array, first, shape);
      return own;
    }
    const all = [...own];
    for (const [i, rank] of others.entries()) {
      for (const { name } of this.#stage.all[i + 1].weights) {
        const { data, shape } = await this.#group.receiveFrom(rank);
        all.push({ name, dtype: 'F32', shape: [...shape], data: data as Float32Array<ArrayBuffer> });
      }
    }
    return all;
  }

  #outputs(inputs: readonly Tensor[], input: Tensor | null): Tensor[] {
    const { units } = this.#stage;
    const given = new Map(inputs.map((value, i) => [this.#inputs[i], value]));
    const [{ input: entering }] = units;
    if (entering !== null && input !== null) given.set(entering, input);
    const calls = units.flatMap((unit) => unit.calls);
    const values = runCalls(this.#member.model, calls, given, false);
    return units[units.length - 1].outputs.flatMap((output) => values.get(output) ?? []);
  }

  async #pass(compute: () => Tensor[], next: number): Promise<void> {
    const output = tf.tidy(() => compute()[0]);
    requireFloats(output);
    this.#group.send(await output.data(), next, output.shape);
    output.dispose();
  }

  /** Sends predictions to all ranks: a description, then the arrays. */
  async #share(own: Predictions | null, last: number): Promise<Predictions> {
    const others = this.#stage.ranks.filter((rank) => rank !== last);
    if (own === null) return await this.#receive(last);
    const { arrays, about } = flatten(own);
    for (const rank of others) {
      this.#group.send(Uint8Array.from(Buffer.from(JSON.stringify(about))), rank);
      for (const array of arrays) this.#group.send(array, rank);
    }
    return own;
  }

  async #receive(from: number): Promise<Predictions> {
    const { data } = await this.#group.receiveFrom(from);
    const about = JSON.parse(Buffer.from(data as Uint8Array).toString()) as AboutPredictions;
    const receiveOne = async ({ outputs, ...of }: Omit<AboutPredictions, 'further'>): Promise<Predictions> => {
      const values: Float32Array<ArrayBuffer>[] = [];
      for (let i = 0; i < outputs; i++)
        values.push((await this.#group.receiveFrom(from)).data as Float32Array<ArrayBuffer>);
      return { ...of, values };
    };
    const { further, ...main } = about;
    const own = await receiveOne(main);
    if (further === null) return own;
    const rest: Record<string, Predictions> = {};
    for (const [name, of] of further) rest[name] = await receiveOne(of);
    return { ...own, further: rest };
  }
}

/** Predictions without their arrays. */
interface AboutPredictions extends Pick<Predictions, 'kind' | 'samples' | 'width'> {
  outputs: number;
  further: [name: string, of: Omit<AboutPredictions, 'further'>][] | null;
}

function flatten({ further, ...own }: Predictions): { about: AboutPredictions; arrays: Float32Array[] } {
  const others = further === undefined ? null : Object.entries(further);
  const describe = ({ kind, samples, width, values }: Predictions) => ({
    kind,
    samples,
    width,
    outputs: values.length,
  });
  const about = {
    ...describe(own),
    further: others?.map(([name, of]) => [name, describe(of)] as [string, ReturnType<typeof describe>]) ?? null,
  };
  return {
    about,
    arrays: [own, ...(others?.map(([, of]) => of) ?? [])].flatMap(({ values }) => values),
  };
}
