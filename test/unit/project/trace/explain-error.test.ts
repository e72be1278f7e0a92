import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { excerptOf, explainError, sourceOf, stackOf } from '../../../../workers/project/explain-error.ts';
import { asScript, withSyntaxPlace } from '../../../../workers/project/load-project.ts';

const project = realpathSync(mkdtempSync(join(tmpdir(), 'tutti trace ')));
afterAll(() => rmSync(project, { recursive: true }));

function write(file: string, lines: string[]): string {
  mkdirSync(project, { recursive: true });
  const path = join(project, file);
  writeFileSync(path, lines.join('\n'));
  return path;
}

const code = ['first', '\tsecond(three);', 'third'];
write('project.ts', code);

describe('the lines at a place', () => {
  it('are marked, with their neighbours and a caret below the column', () => {
    expect(excerptOf({ file: 'project.ts', line: 2, column: 9 }, project)).toBe(
      ['  1 | first', '> 2 |  second(three);', '    |         ^', '  3 | third'].join('\n'),
    );
  });

  it('have no caret without a column, and no neighbours at the ends of the file', () => {
    expect(excerptOf({ file: 'project.ts', line: 1, column: null }, project)).toBe(
      '> 1 | first\n  2 |  second(three);',
    );
    expect(excerptOf({ file: 'project.ts', line: 3, column: 2 }, project)).toBe(
      '  2 |  second(three);\n> 3 | third\n    |  ^',
    );
  });

  it('are cut around the column of a long line, and command no terminal', () => {
    write('long.js', [`${'a'.repeat(200)}B${'c'.repeat(200)}`]);
    const [line, caret] = (excerptOf({ file: 'long.js', line: 1, column: 201 }, project) ?? '').split('\n');
    expect(line).toBe(`> 1 | ${'a'.repeat(60)}B${'c'.repeat(59)}`);
    expect(line[caret.indexOf('^')]).toBe('B');
    write('escape.js', ['\u001b[31mred']);
    expect(excerptOf({ file: 'escape.js', line: 1, column: 2 }, project)).toBe('> 1 | \\u001b[31mred\n    |       ^');
  });

  it('are null where the file or the line is gone', () => {
    expect(excerptOf({ file: 'absent.ts', line: 1, column: 1 }, project)).toBeNull();
    expect(excerptOf({ file: 'project.ts', line: 9, column: 1 }, project)).toBeNull();
  });
});

describe('an error', () => {
  const raised = (line: number): Error => {
    const error = new Error('No such layer.');
    error.stack = `Error: No such layer.\n    at model (${pathToFileURL(join(project, 'project.ts')).href}:${line}:2)`;
    return error;
  };

  it('is explained with the place of its innermost cause in the project', () => {
    const wrapped = new Error('The metric failed: No such layer.', { cause: raised(2) });
    expect(sourceOf(wrapped, project).source).toBe('project.ts:2:2');
    expect(explainError(wrapped, project)).toBe(
      [
        'The metric failed: No such layer.',
        'at project.ts:2:2',
        '  1 | first',
        '> 2 |  second(three);',
        '    |  ^',
        '  3 | third',
      ].join('\n'),
    );
    expect(stackOf(wrapped)).toContain('\ncaused by: Error: No such layer.\n    at model');
  });

  it('of Tutti itself has no place, nor has what is no error', () => {
    expect(sourceOf(new Error('Out of memory.'), project)).toEqual({});
    expect(explainError('just text', project)).toBe('just text');
    const circular = new Error('a');
    circular.cause = circular;
    expect(explainError(circular, project)).toBe('a');
  });
});

describe('an error of syntax without a place', () => {
  it.each([
    [
      'statement.js',
      ["import { a } from './a.js';", 'export const one = 1;', "const b = { c: 'x' d: 2 };"],
      'statement.js:3:20',
    ],
    ['again.ts', ["import type { A } from './a.ts';", 'const a: number = 1;', 'export const a = 2;'], 'again.ts:3:14'],
    ['default.mjs', ['await load();', 'export default {', "  name: 'x'", '  description: 1,', '};'], 'default.mjs:4:3'],
  ])('gets it by a second look at %s', (file, lines, source) => {
    const innocent = write('innocent.js', [
      "export { a } from './a.js';",
      'const { url } = import.meta;',
      'await import(url);',
    ]);
    const path = write(file, lines);
    const message = {
      'statement.js': "Unexpected identifier 'd'",
      'again.ts': "Identifier 'a' has already been declared",
    }[file];
    const error = new SyntaxError(message ?? "Unexpected identifier 'description'");
    expect(sourceOf(withSyntaxPlace(error, [innocent, path]), project).source).toBe(source);
  });

  it('stays as it is where no file gives the same message', () => {
    const error = new SyntaxError('Another one');
    const { stack } = error;
    expect(withSyntaxPlace(error, [write('wrong.js', ['a b'])])).toBe(error);
    expect(error.stack).toBe(stack);
  });

  it('is found at the column of the module, because declarations are replaced by blanks', () => {
    expect(asScript("import a, {\n  b,\n} from 'c'; d();\nexport default e;\nexport { f };")).toBe(
      `${' '.repeat(11)}\n${' '.repeat(4)}\n${' '.repeat(11)} d();\n${' '.repeat(12)}0, e;\n${' '.repeat(13)}`,
    );
    expect(asScript("import 'x';\nimport('y');\nimport.meta.url")).toBe(
      `${' '.repeat(11)}\nimport('y');\nthis       .url`,
    );
  });
});
