import { describe, expect, it } from 'vitest';
import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import { answerAt, placesOf, shownColumns } from '../../../src-renderer/views/run/predict/answers.ts';

const number = (name: string, ...values: number[]): PredictionColumn => ({
  name,
  type: 'number',
  values: Float64Array.from(values),
});

/** Two samples, two classes, the ranks 0 and 3. */
const columns: PredictionColumn[] = [
  { name: 'class', type: 'text', values: ['my_cat', 'dog'] },
  number('probability_my_cat', 0.75, 0.25),
  number('probability_dog', 0.25, 0.75),
  number('mutual_information', 0.5, 0.125),
  { name: 'outside', type: 'boolean', values: Uint8Array.of(0, 1) },
  number('outside_entropy', 0.5, 0.75),
  number('outside_energy', -3, NaN),
  number('member_0_probability_my_cat', 1, 0.5),
  number('member_0_probability_dog', 0, 0.5),
  number('member_3_probability_my_cat', 0.5, 0),
  number('member_3_probability_dog', 0.5, 1),
];

describe('the answer for a sample', () => {
  it('has each probability with those of the members, the most probable class first', () => {
    const { quantities, facts, isOutside } = answerAt(columns, 1);
    expect(quantities).toEqual([
      { name: 'dog', isProbability: true, ensemble: 0.75, members: [{ rank: 0, value: 0.5 }, { rank: 3, value: 1 }] },
      { name: 'my_cat', isProbability: true, ensemble: 0.25, members: [{ rank: 0, value: 0.5 }, { rank: 3, value: 0 }] },
    ]); // prettier-ignore
    expect(facts).toEqual([
      { name: 'class', text: 'dog' },
      { name: 'mutual information', text: '0.1250' },
    ]);
    expect(isOutside).toBe(true);
    expect(answerAt(columns, 0).isOutside).toBe(false);
  });

  it('has the further outputs of a model under their names, each with its members', () => {
    const further = [
      ...columns,
      number('distance/mean', 2, 5),
      number('distance/epistemic', 1, 0),
      number('distance/member_0_mean', 1, 5),
      number('distance/member_3_mean', 3, 5),
      number('late/probability_yes', 0.5, 0.5),
      number('late/member_0_probability_yes', 0.5, 0.5),
    ];
    const { quantities, facts } = answerAt(further, 0);
    expect(quantities.map(({ name, isProbability }) => [name, isProbability])).toEqual([
      ['my_cat', true],
      ['dog', true],
      ['distance: mean', false],
      ['late: yes', true],
    ]);
    expect(quantities[2].members).toEqual([
      { rank: 0, value: 1 },
      { rank: 3, value: 3 },
    ]);
    expect(facts.map(({ name }) => name)).toEqual(['class', 'mutual information', 'distance: epistemic']);
    expect(shownColumns(further).map(({ name }) => name)).not.toContain('distance/member_0_mean');
  });

  it('says what of a row does not fit, and nothing where all does', () => {
    const warned: PredictionColumn = { name: 'warnings', type: 'text', values: ['outside age', ''] };
    const factsAt = (row: number) => answerAt([...columns, warned], row).facts;
    expect(factsAt(0)).toContainEqual({ name: 'warnings', text: 'outside age' });
    expect(factsAt(1).map(({ name }) => name)).not.toContain('warnings');
  });

  it('takes a slash in the name of a class for a part of the name', () => {
    const { quantities } = answerAt([number('probability_a/b', 1), number('member_0_probability_a/b', 1)], 0);
    expect(quantities.map(({ name }) => name)).toEqual(['a/b']);
  });

  it('has the 12 most probable of many classes', () => {
    const many = Array.from({ length: 15 }, (_, k) => [
      number(`probability_${k}`, k / 105),
      number(`member_0_probability_${k}`, k / 105),
    ]).flat();
    const { quantities, hidden } = answerAt(many, 0);
    expect(quantities.map(({ name }) => name)).toEqual([
      '14',
      '13',
      '12',
      '11',
      '10',
      '9',
      '8',
      '7',
      '6',
      '5',
      '4',
      '3',
    ]);
    expect(hidden).toBe(3);
  });

  it('keeps values in their order, with the interval as facts', () => {
    const values = [
      number('mean', 2),
      number('standard_deviation', 3),
      number('lower', -1),
      number('member_0_mean', 2),
    ];
    const { quantities, facts } = answerAt(values, 0);
    expect(quantities.map(({ name }) => name)).toEqual(['mean']);
    expect(facts).toEqual([
      { name: 'standard deviation', text: '3' },
      { name: 'lower', text: '-1' },
    ]);
  });
});

it('probabilities lie between 0 and 1, other values between the least and the largest', () => {
  const members = [{ rank: 0, value: 1 }, { rank: 1, value: 5 }]; // prettier-ignore
  expect(placesOf({ name: 'mean', isProbability: false, ensemble: 3, members })(3)).toBe(0.5);
  expect(placesOf({ name: 'dog', isProbability: true, ensemble: 0.25, members: [] })(0.25)).toBe(0.25);
  expect(placesOf({ name: 'mean', isProbability: false, ensemble: 7, members: [] })(7)).toBe(0.5);
});

it("a table has the ensemble's columns, without the probabilities of many classes", () => {
  expect(shownColumns(columns).map(({ name }) => name)).toEqual([
    'class',
    'probability_my_cat',
    'probability_dog',
    'mutual_information',
    'outside',
  ]);
  const many = Array.from({ length: 30 }, (_, k) => number(`probability_${k}`, 0));
  expect(shownColumns([...many, number('entropy', 0)]).map(({ name }) => name)).toEqual(['entropy']);
});
