import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeConfig, setPath } from '../../../core/options/index.ts';

describe('mergeConfig', () => {
  it('merges objects and replaces the rest', () => {
    const base = { batchSize: 128, devices: [0, 1], stop: { enabled: false, patience: 20 } };
    const override = { devices: [1], stop: { enabled: true }, seed: 7 };
    expect(mergeConfig(base, override)).toEqual({
      batchSize: 128,
      devices: [1],
      stop: { enabled: true, patience: 20 },
      seed: 7,
    });
    expect(base.stop).toEqual({ enabled: false, patience: 20 });
  });

  it("drops members of the lower layer's kind if the kind changes, and keeps them otherwise", () => {
    const base = { optimizer: { kind: 'sgd', momentum: 0.9, learningRate: 0.1 } };
    expect(mergeConfig(base, { optimizer: { kind: 'adam', beta1: 0.8 } })).toEqual({
      optimizer: { kind: 'adam', beta1: 0.8 },
    });
    expect(mergeConfig(base, { optimizer: { kind: 'sgd', learningRate: 0.2 } })).toEqual({
      optimizer: { kind: 'sgd', momentum: 0.9, learningRate: 0.2 },
    });
    expect(mergeConfig(base, { optimizer: { learningRate: 0.2 } })).toEqual({
      optimizer: { kind: 'sgd', momentum: 0.9, learningRate: 0.2 },
    });
  });

  it('keeps a value that is overridden by undefined, and replaces one overridden by null', () => {
    expect(mergeConfig({ a: 1, b: 2 }, { a: undefined, b: null })).toEqual({ a: 1, b: null });
  });

  it('treats a key named __proto__ like any other', () => {
    const merged = mergeConfig({}, JSON.parse('{"__proto__": {"polluted": true}}'));
    expect(Object.hasOwn(merged, '__proto__')).toBe(true);
    expect(merged.polluted).toBeUndefined();
  });

  it('has the empty layer as its neutral element, and is idempotent', () => {
    const layer = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(fc.integer(), fc.dictionary(fc.string(), fc.integer())),
    );
    fc.assert(
      fc.property(layer, layer, (base, override) => {
        expect(mergeConfig(base, {})).toEqual({ ...base });
        const once = mergeConfig(base, override);
        expect(mergeConfig(once, override)).toEqual(once);
      }),
    );
  });
});

describe('setPath', () => {
  it('sets at a dotted path, creates missing parents, and copies', () => {
    const object = { optimizer: { kind: 'adam' }, seed: 1 };
    expect(setPath(object, 'optimizer.learningRate', 0.1)).toEqual({
      optimizer: { kind: 'adam', learningRate: 0.1 },
      seed: 1,
    });
    expect(setPath({}, 'a.b.c', 1)).toEqual({ a: { b: { c: 1 } } });
    expect(setPath({ a: 3 }, 'a.b', 1)).toEqual({ a: { b: 1 } });
    expect(object).toEqual({ optimizer: { kind: 'adam' }, seed: 1 });
  });

  it('does not reach prototypes', () => {
    setPath({}, '__proto__.polluted', true);
    setPath({}, 'constructor.prototype.polluted', true);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
