import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { describePlace, projectPlace } from '../../../../workers/project/explain-error.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tutti (place) ')));
afterAll(() => rmSync(folder, { recursive: true }));
const project = join(folder, 'my project');
mkdirSync(join(project, 'layers'), { recursive: true });
const placeIn = (stack: string, root = project): string | null => {
  const place = projectPlace(stack, root);
  return place === null ? null : describePlace(place);
};
const url = (file: string): string => pathToFileURL(join(project, file)).href;

it('is the first frame in the project, with line and column', () => {
  const stack = [
    'ValueError: The shapes do not match',
    '    at Dense.call (file:///opt/tutti/node_modules/@tensorflow/tfjs-layers/dist/tf-layers.node.js:3:14)',
    `    at async Attention.call (${url('layers/attention.ts')}:31:12)`,
    `    at Object.model (${url('project.ts')}:12:5)`,
  ].join('\n');
  expect(placeIn(stack)).toBe('layers/attention.ts:31:12');
});

it('is also found without the name of a function, after a query, and as a path that a source map gave', () => {
  expect(placeIn(`Error\n    at ${url('project.ts')}?v=3:7:9`)).toBe('project.ts:7:9');
  expect(placeIn('Error\n    at loss (/data/p/src/loss.ts:7:9)', '/')).toBe('data/p/src/loss.ts:7:9');
});

it('is found where the project folder is a link', () => {
  const link = join(folder, 'link');
  symlinkSync(project, link);
  expect(placeIn(`Error\n    at loss (${url('project.ts')}:7:9)`, link)).toBe('project.ts:7:9');
});

it('is null for errors of Tutti, of libraries of the project, and of neighbouring folders', () => {
  const frames = [
    'file:///opt/tutti/workers/training/trainer.ts:99:1',
    `${url('node_modules/lib/index.js')}:1:2`,
    `${pathToFileURL(`${project} 2/project.ts`).href}:1:2`,
    'node:internal/process/task_queues:105:5',
    'file://other-host/project.ts:1:2',
    'file:///%2F/project.ts:1:2',
  ];
  expect(placeIn(`Error: x\n${frames.map((frame) => `    at f (${frame})`).join('\n')}`)).toBeNull();
});

it('is the heading of the stack of an error of syntax, with the column of its caret', () => {
  const stack = [
    `${join(project, 'project.ts')}:5`,
    "  name: 'x'",
    "  description: 'y',",
    '  ^^^^^^^^^^^',
    '',
    "SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expected ',', got 'ident'",
    '    at parseTypeScript (node:internal/modules/typescript:72:36)',
  ].join('\n');
  expect(projectPlace(stack, project)).toEqual({ file: 'project.ts', line: 5, column: 3 });
  expect(placeIn(`${url('layers/a.ts')}:2\nimport { b } from './b.ts';\n\nSyntaxError: no such export`)).toBe(
    'layers/a.ts:2',
  );
});
