import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tableProfileSchema } from '../../../core/preprocessing/profile.ts';
import { runCommand } from '../../integration/damages/run-command.ts';

async function tableFile(content: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-inspect-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.stubEnv('TUTTI_HOME', join(folder, 'home'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, 'd.csv');
  await writeFile(file, content);
  return file;
}

const rows = Array.from({ length: 30 }, (_, i) => `${i};${(i * 7) % 30},5;${'ab'[i % 2]}`);

it('shows what is in a table, and what to decide', async () => {
  const file = await tableFile(['Lab; 2026', 'id;x;y', ...rows].join('\n'));
  const { code, output } = await runCommand(['inspect', file, '--comment-lines', '1']);
  expect(code).toBe(0);
  expect(output).toContain('note: Left out at the beginning of d.csv: 1 line of comment ("Lab; 2026").');
  expect(output).toContain('d.csv: 30 rows, UTF-8, separated by semicolons');
  expect(output).toContain('The numbers of "x" are written with a decimal comma.');
  expect(output).toContain('warning: "id" counts the rows.');
});

it('prints an object of the documented form, and reads as its flags say', async () => {
  const file = await tableFile(Buffer.from(['Größe;x;y', ...rows].join('\n'), 'latin1'));
  const flags = [
    '--encoding',
    'windows-1252',
    '--header',
    '--delimiter',
    ';',
    '--missing',
    '',
    '--target',
    'x',
    '--target',
    'y',
    '--json',
  ];
  const { code, output } = await runCommand(['inspect', file, ...flags]);
  expect(code).toBe(0);
  const { reading, target } = tableProfileSchema.parse(JSON.parse(output));
  expect(reading.columns.map(({ name }) => name)).toEqual(['Größe', 'x', 'y']);
  expect(reading).toMatchObject({ encoding: 'windows-1252', delimiter: ';', header: true, missingValues: [''] });
  expect(target?.name).toBe('x');
});

it.each([
  { what: 'a file that does not exist', args: ['absent.csv'], says: 'absent.csv' },
  { what: 'a delimiter that is none', args: ['absent.csv', '--delimiter', '#'], says: "argument '#' is invalid" },
  {
    what: 'a maximum that is no number',
    args: ['absent', '--maximum', 'abc'],
    says: "argument 'abc' is invalid. It must be a number above 0.",
  },
  {
    what: 'a folder that is no split',
    args: ['absent', '--split-folder', 'a=b'],
    says: '--split-folder a=b: write a name and what it is, name=train|validation|test|none.',
  },
])('refuses $what', async ({ args, says }) => {
  await tableFile('');
  const { code, output } = await runCommand(['inspect', ...args]);
  expect(code).not.toBe(0);
  expect(output).toContain(says);
});

it('refuses flags that have no effect on a table', async () => {
  const file = await tableFile(['id;x;y', ...rows].join('\n'));
  const { code, output } = await runCommand(['inspect', file, '--maximum', '255', '--split-folder', 'a=train']);
  expect(code).toBe(2);
  expect(output).toContain('--maximum and --split-folder: flags of images, and this is a table that names none.');
});

it('says where a table cannot be read', async () => {
  const { code, output } = await runCommand(['inspect', await tableFile('a,b\n1,2\n3,4,5\n')]);
  expect(code).toBe(1);
  expect(output).toMatch(/d\.csv, line 3: 3 fields, the first line has 2/);
});
