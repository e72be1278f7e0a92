import { risingPieces } from '../../core/postprocessing/calibration/isotonic.ts';
import type { Calibration, IsotonicMap } from '../../core/postprocessing/schema.ts';
import type { GraphBuilder } from './format/graph.ts';

/** Divides each member's logits `[N, M, ...]` by its temperature, where the calibration is one before averaging. */
export function calibrateMembers(
  graph: GraphBuilder,
  logits: string,
  calibration: Calibration | null,
  rank: number,
): string {
  if (calibration?.method !== 'temperature') return logits;
  const { temperatures } = calibration;
  const shape = [temperatures.length, ...Array<number>(rank - 2).fill(1)];
  return graph.op('Div', [logits, graph.floats(temperatures, shape)]);
}

/**
 * The ensemble's calibrated probabilities from the logarithms of its uncalibrated ones, `[N, ..., K]`; null where
 * averaging is not followed by a calibration.
 */
export function calibratePool(graph: GraphBuilder, logs: string, calibration: Calibration | null): string | null {
  const softmax = (value: string): string => graph.op('Softmax', [value], { axis: -1 });
  switch (calibration?.method) {
    case 'pooled-temperature':
      return softmax(graph.op('Div', [logs, graph.scalar(calibration.temperature)]));
    case 'vector': {
      const scaled = graph.op('Mul', [logs, graph.floats(calibration.scale)]);
      return softmax(graph.op('Add', [scaled, graph.floats(calibration.bias)]));
    }
    case 'dirichlet': {
      const { weights, bias } = calibration;
      const columns = bias.flatMap((_, from) => weights.map((row) => row[from]));
      const mapped = graph.op('MatMul', [logs, graph.floats(columns, [bias.length, bias.length])]);
      return softmax(graph.op('Add', [mapped, graph.floats(bias)]));
    }
    case 'isotonic':
      return isotonic(graph, graph.op('Exp', [logs]), calibration.classes);
    default:
      return null;
  }
}

/** Maps the probability of each class, then divides by their sum; equal probabilities where all are 0. */
function isotonic(graph: GraphBuilder, probabilities: string, maps: readonly IsotonicMap[]): string {
  const parts = graph.node('Split', [probabilities], { axis: -1, num_outputs: maps.length }, maps.length);
  const mapped = graph.op(
    'Concat',
    maps.map((map, i) => interpolate(graph, parts[i], map)),
    { axis: -1 },
  );
  const sum = graph.op('ReduceSum', [mapped, graph.integers([-1])], { keepdims: 1 });
  const isZero = graph.op('Equal', [sum, graph.scalar(0)]);
  const share = graph.op('Div', [mapped, graph.op('Where', [isZero, graph.scalar(1), sum])]);
  return graph.op('Where', [isZero, graph.scalar(1 / maps.length), share]);
}

/** Linear between the map's points, constant outside: the first value, and the share of each rise that p has passed. */
function interpolate(graph: GraphBuilder, p: string, { from, to }: IsotonicMap): string {
  const pieces = risingPieces({ from, to });
  const first = graph.op('Add', [graph.op('Mul', [p, graph.scalar(0)]), graph.scalar(to[0])]);
  if (pieces.length === 0) return first;
  const starts = graph.floats(pieces.map(({ start }) => start));
  const lengths = graph.floats(pieces.map(({ length }) => length));
  const passed = graph.op('Div', [graph.op('Sub', [p, starts]), lengths]);
  const share = graph.op('Clip', [passed, graph.scalar(0), graph.scalar(1)]);
  const risen = graph.op('Mul', [share, graph.floats(pieces.map(({ rise }) => rise))]);
  return graph.op('Add', [first, graph.op('ReduceSum', [risen, graph.integers([-1])], { keepdims: 1 })]);
}
