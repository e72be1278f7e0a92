import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { projectPlace } from '../../../workers/session/project-place.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tutti (place) ')));
afterAll(() => rmSync(folder, { recursive: true }));
const project = join(folder, 'my project');
mkdirSync(join(project, 'layers'), { recursive: true });
const url = (file: string): string => pathToFileURL(join(project, file)).href;

it('is the first frame in the project, with line and column', () => {
  const stack = [
    'ValueError: The shapes do not match',
    '    at Dense.call (file:///opt/tutti/node_modules/@tensorflow/tfjs-layers/dist/tf-layers.node.js:3:14)',
    `    at async Attention.call (${url('layers/attention.ts')}:31:12)`,
    `    at Object.model (${url('project.ts')}:12:5)`,
  ].join('\n');
  expect(projectPlace(stack, project)).toBe('layers/attention.ts:31:12');
});

it('is also found without the name of a function, after a query, and as a path that a source map gave', () => {
  expect(projectPlace(`Error\n    at ${url('project.ts')}?v=3:7:9`, project)).toBe('project.ts:7:9');
  expect(projectPlace('Error\n    at loss (/data/p/src/loss.ts:7:9)', '/')).toBe('data/p/src/loss.ts:7:9');
});

it('is found where the project folder is a link', () => {
  const link = join(folder, 'link');
  symlinkSync(project, link);
  expect(projectPlace(`Error\n    at loss (${url('project.ts')}:7:9)`, link)).toBe('project.ts:7:9');
});

it('is null for errors of Tutti, of libraries of the project, and of neighbouring folders', () => {
  const frames = [
    'file:///opt/tutti/workers/training/trainer.ts:99:1',
    `${url('node_modules/lib/index.js')}:1:2`,
    `${pathToFileURL(`${project} 2/project.ts`).href}:1:2`,
    'node:internal/process/task_queues:105:5',
  ];
  expect(projectPlace(`Error: x\n${frames.map((frame) => `    at f (${frame})`).join('\n')}`, project)).toBeNull();
});
