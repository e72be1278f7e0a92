import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { balancedWeights, bestLabel, isHit } from '../../../core/discovery/progress.ts';
import { drawStratifiedStart } from '../../../core/discovery/steps.ts';
import { Generator } from '../../../core/random/generator.ts';
import { labelOf, oracleOf } from '../../../src-main/discovery/oracles.ts';
import { readAnswers } from '../../../src-main/discovery/person.ts';
import { poolOf, searchOf } from './records.ts';

function ask(script: string, indices: number[]): Promise<number[] | null> {
  const command = `"${process.execPath}" -e "${script}"`;
  const opened = { pool: poolOf({ classNames: ['no', 'yes'] }), targets: new Int32Array(40), features: null };
  return oracleOf(searchOf({ oracle: { kind: 'command', command } }), opened, new AbortController().signal)(indices);
}

const answering = (answer: string): string =>
  `const lines = require('fs').readFileSync(0, 'utf8').trim().split('\\n').map(JSON.parse); for (const own of ` +
  `lines.reverse()) console.log(JSON.stringify(${answer}))`;

test('a command gets candidates with their texts, and answers in any order', async () => {
  expect(await ask(answering(`{ index: own.index, label: own.name.length > 10 ? 'yes' : 0 }`), [3, 12])).toEqual([
    0, 1,
  ]);
});

test('a command that fails, forgets a candidate or prints something else is named', async () => {
  await expect(ask('process.exit(3)', [1])).rejects.toThrow('ended with code 3');
  await expect(ask(answering('{ index: 7, label: 1 }'), [1])).rejects.toThrow('gave no label for candidate 1');
  await expect(ask(`console.log(1)`, [1])).rejects.toThrow('A line looks like {"index": 12, "label": 1}.');
});

test('labels are names or numbers of classes, or values', () => {
  const classes = poolOf({ classNames: ['no', 'yes'] });
  expect([labelOf('yes', classes), labelOf(0, classes), labelOf('1', classes)]).toEqual([1, 0, 1]);
  expect(() => labelOf('maybe', classes)).toThrow('labels are no, yes, or the numbers 0 to 1');
  expect(() => labelOf(2, poolOf())).toThrow('labels are the numbers 0 to 1');
  expect(labelOf('-2.5e3', poolOf({ classCount: null }))).toBe(-2500);
  expect(() => labelOf('NaN', poolOf({ classCount: null }))).toThrow('labels are numbers');
});

test('answers name the row of a wrong label, and leave out empty ones', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-answers-'));
  const read = async (text: string | Buffer) => {
    const path = join(folder, 'answers.csv');
    await writeFile(path, text);
    return readAnswers(path, poolOf());
  };
  expect([...(await read('\uFEFFindex,name,label\r\n3,"a, b",1\r\n4,c,\r\n5,d, 0\r\n'))]).toEqual([
    [3, 1],
    [5, 0],
  ]);
  await expect(read('index,label\n3,1\n4,8\n')).rejects.toThrow('row 3: "8" is no label');
  await expect(read('index,label\n40,1\n')).rejects.toThrow(
    'row 2: "40" is no candidate of the pool, which has 0 to 39',
  );
  await expect(read('id,label\n3,1\n')).rejects.toThrow('has no columns index and label');
  expect([...(await read(Buffer.from('\uFEFFindex,label\r\n3,1\r\n', 'utf16le')))]).toEqual([[3, 1]]);
  await expect(read(Buffer.from('index,name,label\n3,Zürich,1\n', 'latin1'))).rejects.toThrow(
    'line 2: byte 4 of the line is 0xFC, which is not UTF-8',
  );
  await rm(folder, { recursive: true });
});

test('weights of classes are those of scikit-learn', () => {
  // compute_class_weight('balanced', classes=[0, 1], y=[0, 0, 0, 1]) gives [0.6667, 2].
  expect(balancedWeights([0, 0, 1, 0])).toEqual([2 / 3, 2 / 3, 2, 2 / 3]);
  expect(balancedWeights([1, 1])).toEqual([1, 1]);
});

test('hits and the best label follow the goal', () => {
  expect([1, 2].map((label) => isHit({ kind: 'class', label: 2 }, label))).toEqual([false, true]);
  expect([1, 2].map((label) => isHit({ kind: 'minimize', threshold: 1 }, label))).toEqual([true, false]);
  expect(isHit({ kind: 'maximize', threshold: null }, 1e9)).toBe(false);
  expect(bestLabel({ kind: 'minimize', threshold: null }, [3, -1, 2])).toBe(1);
  expect(bestLabel({ kind: 'class', label: 1 }, [0, 1])).toBeNull();
});

test('a stratified start has the shares of the classes, at least one of each', () => {
  const labels = Int32Array.from({ length: 1000 }, (_, i) => (i < 5 ? 2 : i % 4 === 0 ? 1 : 0));
  const start = drawStratifiedStart(labels, 20, new Generator(1, 'start'));
  const counts = [0, 1, 2].map((own) => start.filter((index) => labels[index] === own).length);
  expect(counts).toEqual([14, 5, 1]);
  expect(new Set(start).size).toBe(20);
  expect(() => drawStratifiedStart(labels, 2, new Generator(1, 'start'))).toThrow('at least 3');
});
