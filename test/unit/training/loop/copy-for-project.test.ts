import { expect, it } from 'vitest';
import { copyForProject } from '../../../../workers/member/predictions.ts';

it('a project gets probabilities where the run stores logits, and copies of everything else', () => {
  const logits = { kind: 'logits' as const, samples: 2, width: 2, values: [Float32Array.of(0, Math.log(3), 7, 7)] };
  const { kind, values } = copyForProject(logits);
  expect(kind).toBe('probabilities');
  expect(values.map((output) => Array.from(output, (value) => Number(value.toFixed(6))))).toEqual([
    [0.25, 0.75, 0.5, 0.5],
  ]);
  const means = { kind: 'values' as const, samples: 2, width: 1, values: [Float32Array.of(1, 2)] };
  const copy = copyForProject(means);
  expect(copy).toEqual(means);
  copy.values[0][0] = 9;
  expect(means.values[0][0]).toBe(1);
});
