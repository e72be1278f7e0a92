import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import ts from 'typescript';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'test/complaints.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (complaint|-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, complaint, guard]) => ({ complaint, guard }));
const guarded = rows.flatMap(({ complaint, guard }) => {
  const match = /^`(.+\.test\.ts)`: "(.+)"$/.exec(guard);
  return match === null ? [] : [{ complaint, file: match[1], title: match[2] }];
});

/** The titles of the tests of a file that run and expect something: calls of `it`, `it.each(...)` and the like, without `skip` or `todo`. */
function titlesOf(text: string): string[] {
  const source = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node, isSkipped: boolean): void => {
    const call = ts.isCallExpression(node) ? node : null;
    const callee = call?.expression.getText(source) ?? '';
    const isLeftOut = isSkipped || (/^(?:it|test|describe)\b/.test(callee) && /\.(?:skip|todo|fails)\b/.test(callee));
    const title = call?.arguments.at(0);
    if (call !== null && /^(?:it|test)\b/.test(callee) && title !== undefined && ts.isStringLiteralLike(title)) {
      const expects = call.arguments.slice(1).some((part) => /\bexpect\w*[(.]/.test(withoutComments(part)));
      if (!isLeftOut && expects) titles.push(title.text);
    }
    ts.forEachChild(node, (child) => visit(child, isLeftOut));
  };
  visit(source, false);
  return titles;
}

const printer = ts.createPrinter({ removeComments: true });
const withoutComments = (node: ts.Node): string =>
  printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());

it('each complaint has a test or the reason why there is none', () => {
  const others = rows.filter(({ complaint }) => guarded.every((one) => one.complaint !== complaint));
  expect(others.filter(({ guard }) => !/^no test: \w/.test(guard))).toEqual([]);
  expect(guarded.length).toBeGreaterThan(others.length);
});

it.each(guarded)('“$complaint” has its test', ({ file, title }) => {
  expect(titlesOf(readFileSync(join(root, file), 'utf8')).filter((one) => one === title)).toEqual([title]);
});

it('a title alone is no test: it must run, and expect something', () => {
  const text = `
    // it('only a comment', () => expect(1).toBe(1));
    const unused = 'only a text';
    it.skip('is skipped', () => expect(1).toBe(1));
    describe.skip('a group', () => it('is in a skipped group', () => expect(1).toBe(1)));
    it.todo('is to be written');
    it.fails('fails on purpose', () => expect(1).toBe(2));
    it('expects nothing', () => {
      // expect(1).toBe(2);
    });
    it('runs', () => expect(1).toBe(1));
    test.each([1])("runs %s", async (value) => {
      await expect.poll(() => value).toBe(1);
    });
    it.runIf(true)('may run', () => expectPredicted(1));
  `;
  expect(titlesOf(text)).toEqual(['runs', 'runs %s', 'may run']);
});
