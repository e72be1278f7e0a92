import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../../../core/studies/optuna/read-journal.ts';
import { parsePythonJson, toPythonJson } from '../../../core/studies/optuna/operations.ts';
import { writeJournal } from '../../../core/studies/optuna/write-journal.ts';
import { suggestRandom } from '../../../core/studies/samplers/quasi-random.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { goldenFile } from '../../golden/read-golden.ts';
import { everyKind } from './functions.ts';
import { optuna } from './recorded.ts';

const text = readFileSync(goldenFile('search/journal.jsonl'), 'utf8');
const study = '{"op_code": 0, "worker_id": "w", "study_name": "s", "directions": [1, 2]}\n';

describe('readJournal', () => {
  it('reads what Optuna wrote: states, values, reports with NaN', () => {
    const [found] = readJournal(text);
    expect(found).toMatchObject({ name: 'wine', directions: ['minimize'], enqueued: [] });
    expect(found.trials).toEqual(
      optuna.journal.map(({ state, values, objectives, reports }, number) => ({
        number,
        state,
        values,
        objectives: state === 'complete' ? objectives : null,
        reports: reports.map(([step, value]) => ({ step, value: value ?? NaN })),
      })),
    );
    expect(found.trials.map(({ state }) => state)).toEqual([
      'complete',
      'complete',
      'complete',
      'pruned',
      'failed',
      'complete',
      'running',
    ]);
    expect(found.parameters).toEqual({
      rate: { kind: 'log', low: 1e-5, high: 30 },
      kind: { kind: 'choice', choices: ['a', 'b', 3, true] },
      layers: { kind: 'int', low: 1, high: 9, step: 2 },
      dropout: { kind: 'step', low: 0, high: 0.5, step: 0.1 },
    });
  });

  it('ignores what Optuna ignores: repeated studies, changes after the end, an incomplete last line', () => {
    const lines = [
      '{"op_code": 0, "study_name": "s", "directions": [2]}',
      '{"op_code": 4, "study_id": 0}',
      '{"op_code": 4, "study_id": 9}',
      '{"op_code": 6, "trial_id": 0, "state": 1, "values": [1, Infinity]}',
      '{"op_code": 7, "trial_id": 0, "step": 1, "intermediate_value": 5}',
      '{"op_code": 4, "study_id": 0, "state": 4, "system_attrs": {"fixed_params": {"x": 1, "y": null}}}',
      '{"op_code": 8, "trial_id": 0, "user_attr": {"a": 1}}',
      '{"op_code": 0, "study_name": "gone", "directions": [1]}',
      '{"op_code": 1, "study_id": 1}',
      '{"op_code": 4, "study_',
    ];
    expect(readJournal(study + lines.join('\n'))).toEqual([
      {
        name: 's',
        directions: ['minimize', 'maximize'],
        parameters: {},
        trials: [{ number: 0, state: 'complete', values: {}, objectives: [1, Infinity], reports: [] }],
        enqueued: [{ x: 1 }],
      },
    ]);
  });

  it.each([
    ['{"op_code": 4, "study_\n', 'Line 2 of the journal is no operation of Optuna: it is no JSON'],
    ['{"op_code": 77}\n', 'Line 2 of the journal is no operation of Optuna: op_code'],
    ['{"op_code": 4, "study_id": 0, "params": {"x": 1}}\n', 'x has no distribution'],
    ['{"op_code": 4, "study_id": 0, "params": {"x": 1}, "distributions": {"x": "{"}}\n', 'a distribution is no JSON'],
    [
      '{"op_code": 4, "study_id": 0}\n{"op_code": 5, "trial_id": 0, "param_name": "x", "param_value_internal": ' +
        '1, "distribution": "{\\"name\\": \\"Uniform\\"}"}\n',
      'Line 3 of the journal is no operation of Optuna: the distribution {"name": "Uniform"} is none of',
    ],
    [
      '{"op_code": 4, "study_id": 0, "params": {"x": 2}, "distributions": {"x": "{\\"name\\": ' +
        '\\"CategoricalDistribution\\", \\"attributes\\": {\\"choices\\": [null]}}"}}\n',
      'x has no choice 2',
    ],
  ])('names the line of %j', (lines, message) => expect(() => readJournal(study + lines)).toThrow(message));
});

describe('writeJournal', () => {
  it('writes what it reads, of every kind', () => {
    const state = fc.constantFrom<Trial['state']>('running', 'complete', 'pruned', 'failed');
    fc.assert(
      fc.property(fc.array(state, { maxLength: 8 }), fc.integer({ min: 0, max: 999 }), (states, seed) => {
        const trials = states.map((state, number): Trial => ({
          number,
          state,
          values: suggestRandom({ space: everyKind, directions: ['maximize'], seed, trials: [], number }),
          objectives: state === 'complete' ? [number / 3, -Infinity] : null,
          reports: [
            { step: 2, value: number / 7 },
            { step: 5, value: NaN },
          ],
        }));
        const written = writeJournal('a "study"', ['maximize', 'minimize'], everyKind, trials.toReversed());
        expect(readJournal(written)).toMatchObject([
          { name: 'a "study"', directions: ['maximize', 'minimize'], trials, enqueued: [] },
        ]);
      }),
      { seed: 15 },
    );
  });

  it('keeps the space of what Optuna wrote', () => {
    const [{ name, directions, parameters, trials }] = readJournal(text);
    const again = writeJournal(name, directions, orderSpace(parameters), trials);
    expect(readJournal(again)).toEqual(readJournal(text));
  });

  it('fills gaps with failed trials, and lets paused ones run', () => {
    const paused: Trial = { number: 1, state: 'paused', values: {}, objectives: null, reports: [] };
    const [{ trials }] = readJournal(writeJournal('s', ['minimize'], everyKind, [paused]));
    expect(trials.map(({ state }) => state)).toEqual(['failed', 'running']);
  });
});

describe("Python's JSON", () => {
  it('has NaN and infinities as words, but not inside of texts', () => {
    expect(parsePythonJson('{"NaN": [NaN, -Infinity, Infinity, "a \\"NaN"]}')).toEqual({
      NaN: ['NaN', '-Infinity', 'Infinity', 'a "NaN'],
    });
    expect(toPythonJson({ a: [NaN, -Infinity, 1.5, null, true, 'x"'] })).toBe(
      '{"a": [NaN, -Infinity, 1.5, null, true, "x\\""]}',
    );
  });
});
