import { describe, expect, it } from 'vitest';
import { metricValues, train, useHub } from '../harness.ts';
import { numbersOf, readGolden } from '../../unit/joint/experts.ts';
import { jointForms, lossTolerance, optimizer, strictSteps } from '../../unit/joint/joint-forms.ts';

const { hub } = useHub();

describe(`ten experts on digits, ${strictSteps} steps in separate processes`, () => {
  it.each(jointForms)('have the losses of PyTorch, $form', async ({ members, expertsPerMember, strategy }) => {
    const run = await train(hub(), 'joint-golden', {
      members,
      strategy,
      optimizer,
      maxSteps: strictSteps,
      hyperparameters: { goldenSeed: 0, expertsPerMember },
    });
    expect(run.record).toMatchObject({ status: 'finished', error: null });
    const actual = metricValues(run.folder, 'train/member_0_loss').map(Number);
    const expected = numbersOf(readGolden(0), 'losses').slice(0, strictSteps);
    expect(actual).toHaveLength(strictSteps);
    expect(Math.max(...actual.map((loss, step) => Math.abs(loss - expected[step])))).toBeLessThan(lossTolerance);
  });
});
