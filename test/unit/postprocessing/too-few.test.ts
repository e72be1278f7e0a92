import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temperaturesOf } from '../../../core/postprocessing/calibration/fit-temperature.ts';
import { cautionsOf, describeFit, describeJudged } from '../../../core/postprocessing/describe.ts';
import { fitPostprocessing } from '../../../core/postprocessing/fit.ts';
import type { ClassSamples, ValueSamples } from '../../../core/postprocessing/held-out.ts';
import { measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import type { Postprocessing } from '../../../core/postprocessing/schema.ts';
import { Generator } from '../../../core/random/generator.ts';
import { calibratedSet } from './recorded-file.ts';

const calibrationOnly = { ...usualRequest, conformal: 'none', outside: 'none' } as const;

/** One member with a logit for class 1 of two. */
const ofLogits = (logits: readonly number[], targets: readonly number[]): ClassSamples => ({
  kind: 'classes',
  stack: {
    members: 1,
    samples: logits.length,
    classes: 2,
    logits: Float32Array.from(logits.flatMap((logit) => [0, logit])),
  },
  targets: Int32Array.from(targets),
});

/** A file with what was fitted. */
const fileOf = (fitted: Partial<Postprocessing>): Postprocessing => ({ ...calibratedSet, ...fitted });

const clean = ofLogits([2, 3, -2, -3, 2.5, -2.5, 1.5, -1.5, 2, -2], [1, 1, 0, 0, 1, 0, 1, 0, 1, 0]);

describe('calibration on what is too little', () => {
  it('keeps the answers of an ensemble that was right ten times', () => {
    const fitted = fitPostprocessing(calibrationOnly, clean, 7);
    expect(fitted.calibration).toBeNull();
    const { judged } = fitted;
    expect(judged).toMatchObject({ method: 'pooled-temperature', samples: 10, folds: 5, isKept: false });
    expect(judged?.gain.lower).toBeLessThan(0);
    expect(describeJudged(fileOf(fitted))).toMatch(
      /^pooled-temperature is not kept, because it is not shown to help: .* in 5-fold cross-validation on 10 samples\.$/,
    );
  });

  it('shrinks a named method towards none, so that errors that were not seen cost little', () => {
    const { calibration } = fitPostprocessing({ ...calibrationOnly, method: 'pooled-temperature' }, clean, 7);
    const [temperature] = calibration === null ? [1] : temperaturesOf(calibration);
    expect(temperature).toBeGreaterThan(0.5);
    const noisy = ofLogits([2, -2, 2, -2], [1, 0, 0, 0]);
    const figures = measurePostprocessing({ calibration, conformal: null, outside: null, selective: null }, noisy);
    const { before, after } = figures.calibration ?? { before: { nll: NaN }, after: { nll: NaN } };
    expect(after.nll).toBeLessThan(1.5 * before.nll);
  });

  it('says that a temperature reached the end of its range', () => {
    const wrong = ofLogits(
      Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 2 : -2)),
      Array.from({ length: 200 }, (_, n) => n % 2),
    );
    const { judged, calibration } = fitPostprocessing(calibrationOnly, wrong, 7);
    expect(calibration).toMatchObject({ temperature: expect.closeTo(100, 3) as number });
    expect(judged?.ends).toEqual([expect.closeTo(100, 3)]);
    expect(describeJudged(fileOf({ judged, calibration }))).toContain('is an end of the range that is tried');
  });

  it('takes no factor of 9.9 from two rows', () => {
    const rows: ValueSamples = {
      kind: 'values',
      means: { members: 1, samples: 2, values: Float32Array.of(0, 0) },
      variances: { members: 1, samples: 2, values: Float32Array.of(1, 1) },
      columns: 1,
      levels: null,
      targets: [9.9, -9.9],
    };
    expect(fitPostprocessing(calibrationOnly, rows, 7).calibration).toBeNull();
    // (2 · 98 + 10) / 12 with the prior's ten.
    const { calibration } = fitPostprocessing({ ...calibrationOnly, method: 'sigma' }, rows, 7);
    expect(calibration).toEqual({ method: 'sigma', scales: [expect.closeTo(Math.sqrt((2 * 9.9 ** 2 + 10) / 12), 5)] });
    const one = {
      ...rows,
      means: { members: 1, samples: 1, values: Float32Array.of(0) },
      variances: { members: 1, samples: 1, values: Float32Array.of(1) },
      targets: [9.9],
    };
    const alone = fitPostprocessing({ ...calibrationOnly, method: 'sigma' }, one, 7);
    expect(alone.calibration).toBeNull();
    expect(describeJudged(fileOf(alone))).toBe('sigma is not kept: 1 sample cannot show whether it helps.');
  });

  it('loses hardly anything on new samples, whatever the method, and keeps what clearly helps', () => {
    const draw = (seed: number, count: number, sharpness: number): ClassSamples => {
      const generator = new Generator(seed, 'too-few');
      const signals = Array.from({ length: count }, () => 2 * generator.normal());
      const targets = signals.map((signal) => Number(generator.uniform() < 1 / (1 + Math.exp(-signal))));
      return ofLogits(
        signals.map((signal) => sharpness * signal),
        targets,
      );
    };
    const methods = ['auto', 'pooled-temperature', 'vector', 'dirichlet', 'isotonic'] as const;
    fc.assert(
      fc.property(fc.nat(1000), fc.constantFrom(...methods), (seed, method) => {
        const fitted = fitPostprocessing({ ...calibrationOnly, method }, draw(seed, 12, 1), seed);
        const { before, after } = measurePostprocessing(fitted, draw(seed + 5000, 2000, 1)).calibration ?? {
          before: { nll: NaN },
          after: { nll: NaN },
        };
        expect(after.nll - before.nll).toBeLessThan(0.25);
      }),
      { numRuns: 40 },
    );
    for (const method of methods) {
      const fitted = fitPostprocessing({ ...calibrationOnly, method }, draw(1, 500, 4), 7);
      expect(fitted.judged).toMatchObject({ isKept: true, samples: 500 });
      const { before, after } = measurePostprocessing(fitted, draw(2, 2000, 4)).calibration ?? {
        before: { nll: NaN },
        after: { nll: NaN },
      };
      expect(after.nll).toBeLessThan(before.nll - 0.1);
    }
  });
});

describe('sets and intervals of too few samples', () => {
  it('are said, for each class by its name', () => {
    const request = { ...usualRequest, method: 'none', conformal: 'thr', isClassConditional: true } as const;
    // Nine samples of class 0 suffice for 90 %, five of class 1 do not.
    const targets = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
    const { conformal } = fitPostprocessing(
      request,
      ofLogits(
        targets.map((target) => target - 0.5),
        targets,
      ),
      7,
    );
    expect(conformal).toMatchObject({ counts: [9, 5], thresholds: [expect.any(Number), Infinity] });
    const [caution, ...others] = cautionsOf({ conformal, classNames: ['cat', 'dog'] });
    expect(caution).toBe(
      'Every set has dog: 5 samples of it fitted the threshold, and a coverage of 90.0 % needs 9, or more where weights differ.',
    );
    expect(others).toEqual([]);
    const all = fitPostprocessing({ ...request, isClassConditional: false, alpha: 0.05 }, ofLogits([1, 1], [1, 1]), 7);
    expect(cautionsOf(all)).toEqual([expect.stringContaining('Every set has all classes: 2 samples fitted')]);
  });

  it('and of intervals', () => {
    const values: ValueSamples = {
      kind: 'values',
      means: { members: 1, samples: 4, values: new Float32Array(4) },
      variances: null,
      columns: 1,
      levels: null,
      targets: [1, 2, 3, 4],
    };
    const { conformal } = fitPostprocessing({ ...usualRequest, outside: 'none' }, values, 7);
    expect(conformal).toMatchObject({ margins: [Infinity], counts: [4] });
    expect(cautionsOf({ conformal })[0]).toContain(
      'The intervals have no ends: 4 samples fitted them, and a coverage of 90.0 % needs 9',
    );
    expect(cautionsOf(fitPostprocessing({ ...usualRequest, outside: 'none', alpha: 0.2 }, values, 7))).toEqual([]);
  });
});

describe('automatic sets', () => {
  it('of two classes are those of the threshold, not both classes nearly always', () => {
    const generator = new Generator(3, 'two-classes');
    const draw = (count: number): ClassSamples => {
      const logits = Array.from({ length: count }, () => 1.6 * generator.normal());
      return ofLogits(
        logits,
        logits.map((logit) => Number(generator.uniform() < 1 / (1 + Math.exp(-logit)))),
      );
    };
    const [fitting, fresh] = [draw(1000), draw(4000)];
    const fitted = fitPostprocessing({ ...usualRequest, outside: 'none' }, fitting, 7);
    expect(fitted.parts).toEqual({ calibration: 500, others: 500 });
    if (fitted.conformal?.kind !== 'sets') throw new Error(fitted.conformal?.kind);
    const { method, compared } = fitted.conformal;
    expect(method).toBe('thr');
    expect(compared?.samples).toBe(500);
    const sizes = Object.fromEntries(compared?.methods.map((own) => [own.method, own.meanSize]) ?? []);
    expect(sizes.thr).toBeLessThan(Math.min(sizes.raps, sizes.aps));
    expect(describeFit(fileOf(fitted))).toContain(
      'conformal thr for 90.0 %, chosen by mean size and coverage on 500 other samples: thr ',
    );
    const found = measurePostprocessing(fitted, fresh).conformal;
    const raps = measurePostprocessing(
      fitPostprocessing({ ...usualRequest, conformal: 'raps', outside: 'none' }, fitting, 7),
      fresh,
    ).conformal;
    expect(found?.coverage).toBeGreaterThan(0.9 - 0.04);
    expect(found?.meanSize).toBeLessThan((raps?.meanSize ?? 0) - 0.2);
  });
});
