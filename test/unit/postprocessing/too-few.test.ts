import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temperaturesOf } from '../../../core/postprocessing/calibration/fit-temperature.ts';
import { cautionsOf, describeFit, describeJudged } from '../../../core/postprocessing/describe.ts';
import { neededToCompare } from '../../../core/postprocessing/conformal/choose-sets.ts';
import { fitPostprocessing } from '../../../core/postprocessing/fit.ts';
import type { ClassSamples, LabelSamples, ValueSamples } from '../../../core/postprocessing/held-out.ts';
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

  it('says that a temperature reached the end of its range, and keeps it where it clearly helps', () => {
    // Logits of 0.001 that are always right: the best temperature is far below 0.01.
    const weak = (count: number) =>
      ofLogits(
        Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 0.001 : -0.001)),
        Array.from({ length: count }, (_, n) => (n + 1) % 2),
      );
    const { judged, calibration } = fitPostprocessing(calibrationOnly, weak(200), 7);
    expect(calibration).toMatchObject({ temperature: expect.closeTo(0.01, 5) as number });
    expect(judged?.ends).toEqual([expect.closeTo(0.01, 5)]);
    expect(describeJudged(fileOf({ judged, calibration }))).toContain('is an end of the range that is tried');
    // Of two right answers the mean gain is above 0, which is chance: also a named method is not kept at an end.
    const few = fitPostprocessing({ ...calibrationOnly, method: 'pooled-temperature' }, weak(2), 7);
    expect(few.judged).toMatchObject({ isKept: false, ends: [expect.closeTo(0.01, 5)] });
    expect(few.judged?.gain.mean).toBeGreaterThan(0);
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

describe('labels that do not belong to the inputs', () => {
  const alternating = (count: number): number[] => Array.from({ length: count }, (_, n) => n % 2);
  const wrong = ofLogits(
    alternating(200).map((side) => (side === 0 ? 2 : -2)),
    alternating(200),
  );

  it('get no calibration by any method, and the cause is said', () => {
    for (const method of [
      'auto',
      'pooled-temperature',
      'joint-temperatures',
      'vector',
      'dirichlet',
      'isotonic',
    ] as const) {
      const fitted = fitPostprocessing({ ...calibrationOnly, method }, wrong, 7);
      expect(fitted.calibration).toBeNull();
      // ln p of the wrong class lies 2 nats below the other, so 1 below the mean. With four samples that the answers
      // expect, of mean tanh(1) = 0.7616: (200 · −1 + 4 · 0.7616) / 204.
      expect(fitted.judged?.agreement?.mean).toBeCloseTo((-200 + 4 * Math.tanh(1)) / 204, 6);
      expect(describeJudged(fileOf(fitted))).toContain('is not kept, because the answers contradict the labels.');
      expect(cautionsOf(fitted)[0]).toMatch(
        /^The answers contradict the labels of the 200 samples .*order of the classes/,
      );
    }
    expect(describeJudged(fileOf(fitPostprocessing(calibrationOnly, wrong, 7)))).toContain('Its temperature 100.0');
  });

  it('are also classes in another order', () => {
    const generator = new Generator(5, 'order');
    const truth = Array.from({ length: 300 }, () => generator.integer(4));
    const logits = Float32Array.from(
      truth.flatMap((own) => [0, 1, 2, 3].map((k) => (k === own ? 3 : 0) + generator.normal())),
    );
    const of = (targets: number[]): ClassSamples => ({
      kind: 'classes',
      stack: { members: 1, samples: 300, classes: 4, logits },
      targets: Int32Array.from(targets),
    });
    const moved = fitPostprocessing(calibrationOnly, of(truth.map((own) => (own + 1) % 4)), 7);
    expect(moved.calibration).toBeNull();
    expect(cautionsOf(moved)[0]).toContain('The labels probably do not belong to the inputs');
    expect(cautionsOf(fitPostprocessing(calibrationOnly, of(truth), 7))).toEqual([]);
  });

  it('and labels of which a sample has any number', () => {
    const of = (sign: number): LabelSamples => ({
      kind: 'labels',
      stack: {
        members: 1,
        samples: 100,
        classes: 2,
        logits: Float32Array.from(alternating(200).map((side) => sign * (4 * side - 2))),
      },
      targets: alternating(200),
    });
    for (const method of ['auto', 'label-temperatures', 'platt'] as const) {
      const fitted = fitPostprocessing({ ...calibrationOnly, method }, of(-1), 7);
      expect(fitted.calibration).toBeNull();
      expect(cautionsOf(fitted)[0]).toContain('The answers contradict the labels of the 100 samples');
      expect(cautionsOf(fitPostprocessing({ ...calibrationOnly, method }, of(1), 7))).toEqual([]);
    }
  });

  it('are not blamed where samples are too few to show it', () => {
    // 5 of 20 right: (−10 + 4 · 0.76) / 24 = −0.29, with a standard error of 0.2.
    const unclear = ofLogits(
      alternating(20).map((side) => (side === 0 ? 2 : -2)),
      alternating(20).map((side, n) => (n < 5 ? 1 - side : side)),
    );
    const fitted = fitPostprocessing({ ...calibrationOnly, method: 'pooled-temperature' }, unclear, 7);
    expect(fitted.judged).toMatchObject({ isKept: false, ends: [expect.closeTo(100, 3)] });
    expect(fitted.judged?.agreement?.upper).toBeGreaterThan(0);
    expect(cautionsOf(fitted)).toEqual([]);
    expect(describeJudged(fileOf(fitted))).toBe(
      'pooled-temperature is not kept: its temperature 100.0 is the end of the range that is tried, where all ' +
        'classes are equally probable. ' +
        'The answers say nothing of the labels of these samples.',
    );
    expect(cautionsOf(fitPostprocessing(calibrationOnly, ofLogits([2, -2, 2], [0, 1, 0]), 7))).toEqual([]);
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
      'Every set has dog: 5 samples of it fitted the threshold, and a coverage of 90.0 % needs 9, or ' +
        'more where weights differ.',
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
  it('are not compared on too few samples: the first score is the default, and how many are needed is said', () => {
    const generator = new Generator(4, 'few');
    const draw = (count: number): ClassSamples => {
      const logits = Array.from({ length: count }, () => 2 * generator.normal());
      return ofLogits(
        logits,
        logits.map((logit) => Number(logit > 0)),
      );
    };
    // Four fifths of the samples must be nine for 90 %: of 12 each part leaves at least 9, of 11 one leaves 8. Half of
    // all samples choose.
    for (const count of [8, 14, 20, 22]) {
      const fitted = fitPostprocessing({ ...usualRequest, outside: 'none' }, draw(count), 7);
      expect(fitted.conformal).toMatchObject({
        method: 'thr',
        compared: { samples: count / 2, needed: 12, methods: [] },
      });
      expect(describeFit(fileOf(fitted))).toContain(
        'conformal thr for 90.0 %, the default: scores are compared with 12 samples or more, and ' +
          `there are ${count / 2} for it`,
      );
    }
    const enough = fitPostprocessing({ ...usualRequest, outside: 'none' }, draw(24), 7).conformal;
    expect(enough?.kind === 'sets' && enough.compared?.methods.map(({ method }) => method)).toEqual([
      'thr',
      'raps',
      'aps',
    ]);
    // 1/0.05 − 1 = 19 of 4/5: 24 − 5 = 19.
    expect([0.05, 0.1, 0.5].map(neededToCompare)).toEqual([24, 12, 2]);
  });

  it('with a threshold for each class need that many of each', () => {
    const targets = Array.from({ length: 60 }, (_, n) => Number(n % 15 === 0));
    const samples = ofLogits(
      targets.map((target) => target - 0.5),
      targets,
    );
    const fitted = fitPostprocessing({ ...usualRequest, isClassConditional: true, outside: 'none' }, samples, 7);
    expect(fitted.conformal).toMatchObject({ method: 'thr', compared: { samples: 30, needed: 12, methods: [] } });
    expect(describeFit(fileOf(fitted))).toContain('with 12 samples of each class or more');
  });

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
