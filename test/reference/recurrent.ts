import { lastAxisPart, matMul, reshape, slice, stack } from './arrays.ts';
import { add, affine, apply, multiply, type FunctionName } from './elementwise.ts';
import { Value } from './value.ts';

export interface Recurrent {
  readonly units: number;
  readonly returnSequences?: boolean;
  readonly goBackwards?: boolean;
  readonly activation?: FunctionName;
  readonly recurrentActivation?: FunctionName;
  /** `[B][T]`, in order of time: a step with 0 keeps the state and repeats the output. */
  readonly mask?: readonly (readonly number[])[];
  /** Factors `[B, U]` of h before each step, in all its uses by the cell. */
  readonly dropout?: Value;
  /** h, and c of an LSTM; zeros by default. */
  readonly initialState?: readonly Value[];
}

/** [kernel `[I, G·U]`, recurrent kernel `[U, G·U]`, optional bias `[G·U]`] of a cell with G gates. */
type Weights = readonly Value[];

/**
 * Runs through a sequence `[B, T, I]` from the initial state. `step` maps an input and the state to the next state,
 * whose first part is the output.
 */
function unroll(
  x: Value,
  { units, returnSequences = false, goBackwards = false, mask, dropout, initialState }: Recurrent,
  states: number,
  step: (input: Value, state: Value[]) => Value[],
): Value {
  const [batch, length, inputs] = x.shape;
  const zero = new Value(new Float64Array(batch * units), [batch, units]);
  let state = [...(initialState ?? Array.from({ length: states }, () => zero))];
  const outputs: Value[] = [];
  for (let t = 0; t < length; t++) {
    const at = goBackwards ? length - 1 - t : t;
    const input = reshape(slice(x, [0, at, 0], [batch, 1, inputs]), [batch, inputs]);
    const [h, ...others] = state;
    const next = step(input, [dropout === undefined ? h : multiply(h, dropout), ...others]);
    const kept = mask?.map((row) => row[at]);
    state = kept === undefined ? next : next.map((value, i) => choose(value, state[i], kept));
    outputs.push(state[0]);
  }
  return returnSequences ? stack(outputs, 1) : state[0];
}

/** Row b of `value` where `kept[b]` is 1, else of `before`; both `[B, U]`. */
function choose(value: Value, before: Value, kept: readonly number[]): Value {
  const units = value.shape[1];
  const weights = (weightOf: (row: number) => number): Value =>
    new Value(
      value.data.map((_, i) => weightOf(Math.floor(i / units))),
      value.shape,
    );
  const chosen = multiply(
    value,
    weights((row) => kept[row]),
  );
  return add(
    chosen,
    multiply(
      before,
      weights((row) => 1 - kept[row]),
    ),
  );
}

function withBias(x: Value, bias: Value | undefined): Value {
  return bias === undefined ? x : add(x, bias);
}

/** h = act(x W + h U + b). */
export function simpleRnn(x: Value, [kernel, recurrent, bias]: Weights, options: Recurrent): Value {
  const { activation = 'tanh' } = options;
  return unroll(x, options, 1, (input, [h]) => [
    apply(activation, add(withBias(matMul(input, kernel), bias), matMul(h, recurrent))),
  ]);
}

/** Hochreiter and Schmidhuber (1997), gates in the order i, f, c, o: c = f c + i act(·), h = o act(c). */
export function lstm(x: Value, [kernel, recurrent, bias]: Weights, options: Recurrent): Value {
  const { units, activation = 'tanh', recurrentActivation = 'hardSigmoid' } = options;
  return unroll(x, options, 2, (input, [h, c]) => {
    const gates = withBias(add(matMul(input, kernel), matMul(h, recurrent)), bias);
    const gate = (place: number): Value => lastAxisPart(gates, place * units, units);
    const [i, f, o] = [0, 1, 3].map((place) => apply(recurrentActivation, gate(place)));
    const cell = add(multiply(f, c), multiply(i, apply(activation, gate(2))));
    return [multiply(o, apply(activation, cell)), cell];
  });
}

/** Cho et al. (2014), with the reset gate before the product: gates z, r, h; h = z h + (1 − z) act(x W + (r h) U). */
export function gru(x: Value, [kernel, recurrent, bias]: Weights, options: Recurrent): Value {
  const { units, activation = 'tanh', recurrentActivation = 'hardSigmoid' } = options;
  return unroll(x, options, 1, (input, [h]) => {
    const inputs = withBias(matMul(input, kernel), bias);
    const inner = matMul(h, lastAxisPart(recurrent, 0, 2 * units));
    const gate = (place: number): Value =>
      apply(
        recurrentActivation,
        add(lastAxisPart(inputs, place * units, units), lastAxisPart(inner, place * units, units)),
      );
    const [z, r] = [gate(0), gate(1)];
    const reset = matMul(multiply(r, h), lastAxisPart(recurrent, 2 * units, units));
    const candidate = apply(activation, add(lastAxisPart(inputs, 2 * units, units), reset));
    return [add(multiply(z, h), multiply(affine(z, -1, 1), candidate))];
  });
}
