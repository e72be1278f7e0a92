import { describe, expect, it } from 'vitest';
import { parseTable } from '../../../workers/data/tables/read-table.ts';

describe('a table in JSON', () => {
  it.each([
    ['{"a":1}\n[1]\n', 'rows.jsonl, line 2: it is not an object'],
    ['{"a":1}\n\n{"a":', 'rows.jsonl, line 3: it is not JSON'],
    ['{"a":[1]}\n', 'rows.jsonl, line 1: "a" holds a list or an object'],
    ['', 'rows.jsonl has no rows of data'],
  ])('refuses JSON lines %j', async (text, message) => {
    await expect(parseTable(Buffer.from(text), 'rows.jsonl')).rejects.toThrow(message);
  });

  it('reads a list of JSON objects, and one object a line under the same ending', async () => {
    for (const text of ['[\n {"a": 1, "b": "x"},\n {"b": null}\n]\n', '{"a": 1, "b": "x"}\n{"b": null}\n']) {
      const { columns } = await parseTable(Buffer.from(text), 'rows.json');
      expect(columns.map(({ name, values }) => [name, [...values]])).toEqual([
        ['a', [1, Number.NaN]],
        ['b', ['x', null]],
      ]);
    }
    const { length } = await parseTable(Buffer.from('{\n  "a": 1,\n  "b": 2\n}\n'), 'rows.json');
    expect(length).toBe(1);
  });

  const list = 'Give a list of objects, one for each row: [{"a": 1}, {"a": 2}]; or one object a line.';
  it.each([
    ['[{"a": 1}, [1]]', 'rows.json, row 2: it is not an object'],
    ['[{"a": {}}]', 'rows.json, row 1: "a" holds a list or an object'],
    ['{"rows": [{"a": 1}]}', `rows.json is one object, in which "rows" holds a list or an object. ${list}`],
    ['7', `rows.json is neither a list nor an object. ${list}`],
    ['[{"a": 1}', `rows.json is not JSON. ${list}`],
    ['[]', 'rows.json has no rows of data'],
  ])('refuses JSON %j', async (text, message) => {
    await expect(parseTable(Buffer.from(text), 'rows.json')).rejects.toThrow(message);
  });
});
