import { releaseValues, restoreValues } from '../../backends/released-values.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { constrain } from '../../member/penalties.ts';
import type { Member } from '../../member/member.ts';
import type { Unit } from './units.ts';
import type { WeightSlice } from './weight-slice.ts';

/** The model's weights as a function of all ranks' slices. */
export class UnitWeights {
  readonly #group: ProcessGroup;
  readonly #units: readonly Unit[];
  readonly #slice: WeightSlice;
  readonly #isReleased: Set<Unit>;
  /** A buffer for the largest unit, made at the first use. */
  #buffer: Float32Array<ArrayBuffer> | null = null;

  /** @param released the units whose whole weights were freed */
  constructor(group: ProcessGroup, units: readonly Unit[], slice: WeightSlice, released: readonly Unit[] = []) {
    this.#group = group;
    this.#units = units;
    this.#slice = slice;
    this.#isReleased = new Set(released);
  }

  /** Joins the slices of all ranks in the model's weights. */
  async spread(): Promise<void> {
    for (const unit of this.#units) unit.layout.write(await this.#join(unit), [...unit.variables]);
  }

  /** Frees the whole weights of a unit; their slices stay. */
  release(unit: Unit): void {
    releaseUnit(unit);
    this.#isReleased.add(unit);
  }

  /** Joins the slices of a released unit. All ranks call it for the same units. */
  async gather(unit: Unit): Promise<void> {
    if (!this.#isReleased.delete(unit)) return;
    const whole = await this.#join(unit);
    let start = 0;
    for (const variable of unit.variables) {
      restoreValues(variable, whole.subarray(start, start + variable.size));
      start += variable.size;
    }
  }

  /** A constraint needs whole tensors: every rank applies it to all tensors, and takes its slice from the result. */
  async constrain({ constraints }: Member): Promise<void> {
    for (const unit of this.#units) {
      const own = [...constraints].filter(([variable]) => unit.variables.includes(variable));
      if (own.length === 0) continue;
      const wasReleased = this.#isReleased.has(unit);
      await this.gather(unit);
      constrain(new Map(own));
      const whole = this.#bufferFor(unit);
      await unit.layout.read(unit.variables, whole);
      const start = this.#position * unit.sliceLength;
      this.#slice.write(whole.subarray(start, start + unit.sliceLength), unit.offset);
      if (wasReleased) this.release(unit);
    }
  }

  get #position(): number {
    return this.#group.ranks.indexOf(this.#group.rank);
  }

  async #join(unit: Unit): Promise<Float32Array> {
    const whole = this.#bufferFor(unit);
    const start = this.#position * unit.sliceLength;
    const own = whole.subarray(start, start + unit.sliceLength);
    await this.#slice.read(unit.offset, own);
    await this.#group.allGather(own, [own.length], whole);
    return whole;
  }

  #bufferFor({ length }: Unit): Float32Array<ArrayBuffer> {
    this.#buffer ??= new Float32Array(Math.max(...this.#units.map((unit) => unit.length)));
    return this.#buffer.subarray(0, length);
  }
}

/** Frees the whole weights of a unit. */
export function releaseUnit({ variables }: Unit): void {
  for (const variable of variables) releaseValues(variable);
}

/** A rank's slices of all units' weights, one after the other. @param position of the rank in the group */
export async function readSlices(units: readonly Unit[], length: number, position: number): Promise<Float32Array> {
  const slices = new Float32Array(length);
  for (const unit of units) {
    const whole = new Float32Array(unit.length);
    await unit.layout.read(unit.variables, whole);
    const start = position * unit.sliceLength;
    slices.set(whole.subarray(start, start + unit.sliceLength), unit.offset);
  }
  return slices;
}
