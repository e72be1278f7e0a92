import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf, tutti } from '../../../core/text/program.ts';

const repository = join(import.meta.dirname, '../../..');

it('is the command of the system in a package of the desktop app, also beside its archive', () => {
  expect(programOf('file:///opt/Tutti/resources/app.asar.unpacked/core/text/program.ts')).toBe('tutti');
  expect(programOf('file:///C:/Programs/Tutti/resources/app.asar/out/main/electron.js')).toBe('tutti');
  expect(programOf('file:///home/user/tutti/core/text/program.ts')).toBe('npx tutti');
  expect(programOf('file:///home/user/mine/node_modules/tutti-ensembles/src-main/bundle/cli.js')).toBe('npx tutti');
  expect(tutti).toBe('npx tutti');
});

it('is never spelled out elsewhere, so that a package prints no command that its users lack', () => {
  const files = ['core', 'src-main', 'workers', 'src-renderer'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|vue|mjs|html)$/.test(file))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(1_000);
  const spelled = files.filter((file) => /npx tutti|npm start[`.]/.test(readFileSync(join(repository, file), 'utf8')));
  // The template README that `tutti create` adapts, and an example in a comment.
  expect(spelled.sort()).toEqual(['core/text/program.ts', 'src-main/cli/commands/create.ts']);
});
