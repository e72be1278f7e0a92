import { describe, expect, it } from 'vitest';
import { dataTypeOf, freeMemory } from '../../../core/protocol/wire/arrays.ts';

describe('freeing memory', () => {
  it('empties an array that has its buffer to itself', () => {
    const array = new Float32Array(1024);
    freeMemory(array);
    expect(array).toHaveLength(0);
  });

  it("leaves a part of a larger buffer alone, especially a slice of Node's pool", () => {
    const part = new Float32Array(1024).subarray(1);
    freeMemory(part);
    expect(part).toHaveLength(1023);
    const pooled = Buffer.from('pooled');
    freeMemory(pooled);
    expect(pooled.toString()).toBe('pooled');
  });
});

describe('the data type', () => {
  it('is that of the elements; unknown ones are refused', () => {
    expect([new Float64Array(0), Buffer.alloc(0)].map(dataTypeOf)).toStrictEqual(['float64', 'uint8']);
    expect(() => dataTypeOf(new Int16Array(1))).toThrow(
      'Int16Array cannot travel between processes; use one of float32, float64, int32, uint8, bfloat16.',
    );
  });
});
