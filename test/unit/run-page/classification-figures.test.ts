import { describe, expect, it } from 'vitest';
import { expectedCalibrationError } from '../../../core/metrics/index.ts';
import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';
import {
  brokenRanks,
  keptClasses,
  riskCoverage,
} from '../../../src-renderer/views/run/figures/classification-figures.ts';

const digits = 6;

function predictions(fields: Partial<PredictionData>): PredictionData {
  return {
    task: 'classification',
    combination: 'mean',
    kind: 'probabilities',
    ranks: [0, 1],
    epoch: 3,
    samples: 2,
    width: 2,
    outputs: [Float32Array.of(0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.8, 0.2)],
    targets: Int32Array.of(0, 1),
    feature: null,
    classNames: null,
    targetNames: null,
    areHeldOut: false,
    weights: null,
    places: null,
    positions: 1,
    ...fields,
  };
}

/**
 * Member 0 predicts [.9 .1], [.4 .6] and member 1 [.7 .3], [.8 .2]. Their mean is [.8 .2], [.6 .4]. The classes are 0
 * and 1.
 */
const kept = keptClasses(predictions({}));

describe('kept predictions of classifiers, by hand', () => {
  it('average to the ensemble', () => {
    expect([...kept.ensemble.values].map((p) => Number(p.toFixed(6)))).toEqual([0.8, 0.2, 0.6, 0.4]);
  });

  it('entropy of the mean and its part due to disagreement', () => {
    expect([...kept.predictiveEntropy]).toEqual([expect.closeTo(0.5004024, digits), expect.closeTo(0.6730117, digits)]);
    expect(kept.mutualInformation[0]).toBeCloseTo(0.5004024 - (0.325083 + 0.6108643) / 2, digits);
  });

  it('disagreement: the members differ on the second of two samples', () => {
    expect([...kept.disagreement]).toEqual([0, 0.5, 0.5, 0]);
  });

  it("marginal value: the NLL is .5697; without member 0 it is member 1's .9831, without member 1 .3081", () => {
    const [first, second] = kept.marginalNll;
    expect(first).toBeCloseTo(0.9830564 - 0.5697171, digits);
    expect(second).toBeCloseTo(0.3080931 - 0.5697171, digits);
  });

  it('of jointly trained members show their product: its probabilities, entropy and what each member adds to it', () => {
    const joint = keptClasses(predictions({ combination: 'product' }));
    // √(.9 · .7) against √(.1 · .3), √(.4 · .8) against √(.6 · .2).
    const [p, q] = [1 / (1 + Math.sqrt(0.03 / 0.63)), 1 / (1 + Math.sqrt(0.12 / 0.32))];
    expect([...joint.ensemble.values]).toEqual([p, 1 - p, q, 1 - q].map((value) => expect.closeTo(value, digits)));
    const entropy = -p * Math.log(p) - (1 - p) * Math.log(1 - p);
    expect(joint.predictiveEntropy[0]).toBeCloseTo(entropy, digits);
    expect(joint.mutualInformation).toEqual(kept.mutualInformation);
    const nll = -(Math.log(p) + Math.log(1 - q)) / 2;
    expect([...joint.marginalNll]).toEqual(
      [0.9830564 - nll, 0.3080931 - nll].map((value) => expect.closeTo(value, digits)),
    );
  });

  it('a single member has no marginal value', () => {
    const outputs = [Float32Array.of(0.9, 0.1, 0.4, 0.6)];
    expect(keptClasses(predictions({ ranks: [0], outputs })).marginalNll).toEqual([]);
  });

  it('risk over coverage: the more certain sample is correct, the other wrong', () => {
    const { coverage, risk, threshold } = riskCoverage(kept.ensemble, kept.targets) ?? {};
    expect([...(coverage ?? [])]).toEqual([0.5, 1]);
    expect([...(risk ?? [])]).toEqual([0, 0.5]);
    expect([...(threshold ?? [])]).toEqual([expect.closeTo(0.8, digits), expect.closeTo(0.6, digits)]);
  });

  it('p(y = 1) of a binary task becomes two classes, and so does its logit', () => {
    const ofProbabilities = predictions({ task: 'binary', width: 1, outputs: [Float32Array.of(0.25, 0.75, 0.5, 1)] });
    expect([...keptClasses(ofProbabilities).members[0].values]).toEqual([0.75, 0.25, 0.25, 0.75]);
    const logits = Float32Array.of(-Math.log(3), Math.log(3), 0, 200);
    const ofLogits = keptClasses(predictions({ task: 'binary', kind: 'logits', width: 1, outputs: [logits] }));
    expect([...ofLogits.members[0].values].map((p) => Number(p.toFixed(6)))).toEqual([0.75, 0.25, 0.25, 0.75]);
    expect(ofLogits.members[1].logValues?.[2]).toBe(-200);
  });
});

describe('kept predictions that are not finite', () => {
  it.each([
    ['all NaN', [NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN], [0, 1]],
    ['one NaN', [1, 0, 0, 1, 0, NaN, 0, 1], [1]],
    ['one infinite', [1, 0, Infinity, 1, 0, 1, 0, 1], [0]],
  ])('%s: yields NaN, never a number, and names the ranks', (_name, logits, ranks) => {
    const data = predictions({ kind: 'logits', outputs: [Float32Array.from(logits)] });
    const broken = keptClasses(data);
    expect(brokenRanks(data)).toEqual(ranks);
    expect(expectedCalibrationError(broken.ensemble, broken.targets)).toBeNaN();
    expect(riskCoverage(broken.ensemble, broken.targets)).toBeNull();
    expect(broken.predictiveEntropy.some(Number.isNaN)).toBe(true);
    expect(broken.mutualInformation.some(Number.isNaN)).toBe(true);
    expect(broken.disagreement[1]).toBeNaN();
    expect(broken.marginalNll.some(Number.isNaN)).toBe(true);
  });

  it('are not reported among finite predictions, nor where a logit of -Infinity excludes a class', () => {
    expect(brokenRanks(predictions({}))).toEqual([]);
    const outputs = [Float32Array.of(0, -Infinity, 1, 2, 3, 4, -Infinity, 0)];
    expect(brokenRanks(predictions({ kind: 'logits', outputs }))).toEqual([]);
  });
});
