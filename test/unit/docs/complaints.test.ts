import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/architecture/complaints.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (complaint|-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, complaint, guard]) => ({ complaint, guard }));
const guarded = rows.flatMap(({ complaint, guard }) => {
  const match = /^`(.+\.test\.ts)`: "(.+)"$/.exec(guard);
  return match === null ? [] : [{ complaint, file: match[1], title: match[2] }];
});

it('has at least 20 complaints, each with a test or the reason why there is none', () => {
  expect(rows.length).toBeGreaterThanOrEqual(20);
  const others = rows.filter(({ complaint }) => guarded.every((one) => one.complaint !== complaint));
  expect(others.filter(({ guard }) => !guard.startsWith('no test: '))).toEqual([]);
});

it.each(guarded)('“$complaint” has its test', ({ file, title }) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect([`'${title}'`, `"${title}"`].some((quoted) => text.includes(quoted))).toBe(true);
});
