import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { tf } from '../../../workers/tf.ts';
import { compareOp } from './op-matrix/compare.ts';
import { opMatrix } from './op-matrix/index.ts';
import { startBoth } from './op-matrix/start.ts';

beforeAll(() => startBoth('wasm', 'cpu'));

describe.each([...opMatrix])('%s', (_, cases) => {
  it.each(cases.map((testCase) => [testCase.op, testCase] as const))('%s', async (_, testCase) => {
    const { valueError, gradientError } = await compareOp(testCase, 'wasm', 'cpu', 4);
    expect(valueError).toBeLessThan(2e-5);
    expect(gradientError ?? 0).toBeLessThan(1e-4);
  });
});

describe('docs/backends.md', () => {
  it('lists every op of the matrix', async () => {
    const text = await readFile(new URL('../../../docs/backends.md', import.meta.url), 'utf8');
    const listed = [...text.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, op]) => op);
    expect(listed).toEqual([...opMatrix.values()].flat().map(({ op }) => op));
  });
});

describe('an op that a backend lacks', () => {
  it('is named, with a backend to try', async () => {
    await tf.setBackend('wasm');
    expect(() => tf.complex([1], [2])).toThrow(/The wasm backend has no op Complex\. Use --backend cpu/);
  });
});
