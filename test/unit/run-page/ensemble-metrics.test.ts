import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../../protocol/rpc.ts';
import {
  classStack,
  ensembleProbabilities,
  entropy,
  expectedCalibrationError,
  marginalNll,
  memberProbabilities,
  mutualInformation,
  negativeLogLikelihood,
  pairwiseDisagreement,
  reliabilityBins,
} from '../../../src-renderer/views/run/ensemble-metrics.ts';
import { riskCoverage } from '../../../src-renderer/views/run/ensemble/risk-coverage.ts';
import * as reference from '../../../workers/metrics/index.ts';

const digits = 6;

function predictions(fields: Partial<PredictionData>): PredictionData {
  return {
    task: 'classification',
    ranks: [0, 1],
    epoch: 3,
    samples: 2,
    width: 2,
    outputs: [Float32Array.of(0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.8, 0.2)],
    targets: Int32Array.of(0, 1),
    feature: null,
    classNames: null,
    ...fields,
  };
}

/** Member 0 says [.9 .1], [.4 .6]; member 1 [.7 .3], [.8 .2]: their mean is [.8 .2], [.6 .4]; the classes are 0 and 1. */
const stack = classStack(predictions({}));
const mean = ensembleProbabilities(stack);

describe('metrics of kept predictions, by hand', () => {
  it('NLL of the mean prediction is -(ln .8 + ln .4) / 2', () => {
    expect(negativeLogLikelihood(mean, stack)).toBeCloseTo(0.5697171, digits);
  });

  it('ECE: one sample right at .8, one wrong at .6', () => {
    const bins = reliabilityBins(mean, stack);
    expect(bins.filter(({ count }) => count > 0).map(({ accuracy }) => accuracy)).toEqual([0, 1]);
    expect(expectedCalibrationError(bins)).toBeCloseTo(0.5 * 0.2 + 0.5 * 0.6, digits);
  });

  it('a confidence on the edge of two bins belongs to the lower one, and 0 to the first', () => {
    const sure = classStack(
      predictions({ ranks: [0], samples: 1, outputs: [Float32Array.of(0, 1)], targets: Int32Array.of(1) }),
    );
    expect(reliabilityBins(Float64Array.of(0.6, 0.4), sure)[8].count).toBe(1);
    expect(reliabilityBins(Float64Array.of(0, 0), sure)[0].count).toBe(1);
    expect(reliabilityBins(Float64Array.of(0, 1), sure)[14].count).toBe(1);
  });

  it('entropy of the mean, and what of it the members disagree on', () => {
    expect([...entropy(mean, 2)]).toEqual([expect.closeTo(0.5004024, digits), expect.closeTo(0.6730117, digits)]);
    expect(mutualInformation(stack)[0]).toBeCloseTo(0.5004024 - (0.325083 + 0.6108643) / 2, digits);
  });

  it('disagreement: the members differ on the second of two samples', () => {
    expect([...pairwiseDisagreement(stack)]).toEqual([0, 0.5, 0.5, 0]);
  });

  it("marginal value: without member 0 the NLL is member 1's .9831, without member 1 .3081", () => {
    const [first, second] = marginalNll(stack);
    expect(first).toBeCloseTo(0.9830564 - 0.5697171, digits);
    expect(second).toBeCloseTo(0.3080931 - 0.5697171, digits);
  });

  it('a single member has no marginal value', () => {
    expect(marginalNll({ ...stack, ranks: [0], values: stack.values.slice(0, 4) })).toEqual([]);
  });

  it('risk over coverage: the surer sample is right, the other wrong', () => {
    const { coverage, risk, threshold } = riskCoverage(mean, stack);
    expect([...coverage]).toEqual([0.5, 1]);
    expect([...risk]).toEqual([0, 0.5]);
    expect([...threshold]).toEqual([expect.closeTo(0.8, digits), expect.closeTo(0.6, digits)]);
  });

  it('p(y = 1) of a binary task becomes two classes', () => {
    const binary = classStack(
      predictions({ task: 'binary', width: 1, outputs: [Float32Array.of(0.25, 0.75, 0.5, 1)] }),
    );
    expect(binary.classes).toBe(2);
    expect([...memberProbabilities(binary, 0)]).toEqual([0.75, 0.25, 0.25, 0.75]);
  });
});

describe('metrics of kept predictions are those that training reports', () => {
  const shape = { ranks: [0, 1, 2], samples: 4, width: 3 };
  const anyPredictions = fc
    .record({
      weights: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 36, maxLength: 36 }),
      targets: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 4, maxLength: 4 }),
    })
    .map(({ weights, targets }) => {
      const sums = weights.map((_, index) => {
        const start = index - (index % 3);
        return weights[start] + weights[start + 1] + weights[start + 2];
      });
      const values = Float32Array.from(weights, (weight, index) => weight / sums[index]);
      return predictions({ ...shape, outputs: [values], targets: Int32Array.from(targets) });
    });

  it('to the last digits', () => {
    fc.assert(
      fc.property(anyPredictions, (data) => {
        const stack = classStack(data);
        const workers = { members: 3, samples: 4, classes: 3, values: data.outputs[0] };
        const mean = ensembleProbabilities(stack);
        const metrics = reference.classificationMetrics(workers, stack.targets, data.ranks);
        expect(negativeLogLikelihood(mean, stack)).toBeCloseTo(metrics.get('ens_nll') ?? NaN, 12);
        expect(expectedCalibrationError(reliabilityBins(mean, stack))).toBeCloseTo(metrics.get('ens_ece') ?? NaN, 12);
        expect(mutualInformation(stack)).toEqual(reference.mutualInformation(workers));
        expect(pairwiseDisagreement(stack)).toEqual(reference.pairwiseDisagreement(workers));
      }),
      { numRuns: 50 },
    );
  });
});
