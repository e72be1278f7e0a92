import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { isSafePath, openFolderSink, openZipSink } from '../../../src-main/export/sinks.ts';
import { openOwnFile, readOwnText } from '../../../core/node/own-files.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { notRun } from '../../environment/reasons.ts';
import { openService } from '../rpc/page.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

/** Run folders as somebody else could make them, to read or write files of the user who opens them. */

const secretText = 'the private key';
let secret: string;
let folder: string;

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

/** A link in the run's folder, in place of what was there. */
async function link(path: string, target: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await rm(join(folder, path), { recursive: true, force: true });
  await symlink(target, join(folder, path));
}

async function contentsOf(exported: string): Promise<string> {
  const entries = await readdir(exported, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

beforeEach(async () => {
  const aside = await temporaryFolder();
  secret = join(aside, 'id_rsa');
  await writeFile(secret, secretText);
  folder = join(await temporaryFolder(), 'run');
  await createRunFolder(folder, runRecord({ status: 'finished', endedAt: '2026-01-02T03:06:05.000Z' }));
  await write('metrics.csv', 'epoch,step,train/loss\n0,1,-0.5\n');
  await write('logs/rank-0.log', '2026-01-02T03:04:05.678Z hello\n');
});

describe('a link in a run folder', () => {
  it.each([
    ['logs/rank-0.log', 'it is a symbolic link'],
    ['plots/summary.svg', 'it is a symbolic link'],
    ['events.jsonl', 'it is a symbolic link'],
    ['metrics.csv', 'it is a symbolic link'],
    ['devices.csv', 'it is a symbolic link'],
  ])('to a private file is not exported, but named: %s', async (path, reason) => {
    await link(path, secret);
    const to = join(await temporaryFolder(), 'export');
    const { skipped, paths } = await exportRun(folder, { to, zip: false });
    expect(skipped).toContainEqual({ path, reason });
    expect(paths).not.toContain(path);
    expect(await contentsOf(to)).not.toContain(secretText);
    // The rest is exported.
    expect(paths).toContain('run.json');
  });

  it.each(['logs', 'plots', 'checkpoints'] as const)('to a private folder is not followed: %s', async (name) => {
    const real = join(dirname(secret), 'real');
    await mkdir(real);
    await rename(secret, join(real, 'rank-0.log'));
    await link(name, real);
    const to = join(await temporaryFolder(), 'export');
    const { skipped } = await exportRun(folder, { to, zip: false });
    expect(skipped).toEqual([{ path: name, reason: 'a symbolic link leads there' }]);
    expect(await contentsOf(to)).not.toContain(secretText);
  });

  it('to a folder inside of one of its folders is not followed either', async () => {
    await link('plots/deep', dirname(secret));
    const to = join(await temporaryFolder(), 'export');
    const { skipped } = await exportRun(folder, { to, zip: false });
    expect(skipped).toMatchObject([{ path: 'plots/deep' }]);
    expect(await contentsOf(to)).not.toContain(secretText);
    await expect(openOwnFile(folder, 'plots/deep/id_rsa')).rejects.toThrow('a symbolic link leads there');
  });

  it('as weights of a checkpoint is refused, whatever its record says', async () => {
    const record = {
      format: 1,
      rank: 0,
      name: 'final',
      epoch: 1,
      step: 20,
      monitor: null,
      score: null,
      sha256: createHash('sha256').update(secretText).digest('hex'),
      bytes: secretText.length,
      savedAt: '2026-01-02T03:05:05.000Z',
    };
    await write('checkpoints/rank-0/final.json', JSON.stringify(record));
    await link('checkpoints/rank-0/final.safetensors', secret);
    const to = join(await temporaryFolder(), 'export');
    const { skipped } = await exportRun(folder, { to, zip: false });
    expect(skipped).toEqual([{ path: 'checkpoints/rank-0/final.safetensors', reason: 'it is a symbolic link' }]);
    expect(await contentsOf(to)).not.toContain(secretText);
  });

  it('reaches no page: logs and plots name it, and the list names the run folder', async () => {
    const { page, home } = await openService();
    const own = join(home, 'home', 'runs', 'run-1');
    await rename(folder, own);
    folder = own;
    await page.hub.runs({});
    await link('logs/rank-0.log', secret);
    await link('plots/summary.svg', secret);
    await write('plots/fine.svg', '<svg/>');
    const [line] = await page.hub.logs('run-1', { ranks: [], limit: 10 });
    expect(line.text).toContain('was not opened: it is a symbolic link');
    expect(Number.isNaN(Date.parse(line.time))).toBe(false);
    const { plots, warnings } = await page.hub.run('run-1');
    expect(plots).toEqual([{ name: 'fine.svg', svg: '<svg/>' }]);
    expect(warnings).toEqual([expect.stringContaining('summary.svg was not opened: it is a symbolic link')]);
    const exported = await page.hub.exportRun('run-1', { formats: [], checkpoints: null });
    expect(exported.warnings).toContain('logs/rank-0.log was left out: it is a symbolic link.');
  });
});

it('opens a file that its run replaces at the same time', async () => {
  const reading = new AbortController();
  async function replace(): Promise<void> {
    for (let count = 0; !reading.signal.aborted; count += 1)
      await writeFileAtomic(join(folder, 'notes.json'), `{"count":${count}}`);
  }
  await write('notes.json', '{}');
  const replacing = replace();
  for (let count = 0; count < 1000; count += 1) {
    expect(await readOwnText(folder, 'notes.json')).toMatch(/^\{.*\}$/);
  }
  reading.abort();
  await replacing;
});

const noPipes = process.platform === 'win32' ? 'Windows has no named pipes in folders' : null;

describe.skipIf(noPipes !== null)(`A named pipe in a run folder${notRun(noPipes)}`, () => {
  it('is refused and waits for no writer', async () => {
    await rm(join(folder, 'logs'), { recursive: true });
    await mkdir(join(folder, 'logs'));
    await promisify(execFile)('mkfifo', [join(folder, 'logs', 'rank-0.log')]);
    await expect(readOwnText(folder, 'logs/rank-0.log')).rejects.toThrow('it is not a regular file');
    const to = join(await temporaryFolder(), 'export');
    const { skipped } = await exportRun(folder, { to, zip: false });
    expect(skipped).toEqual([{ path: 'logs/rank-0.log', reason: 'it is not a regular file' }]);
  });
});

describe('an id in run.json', () => {
  it.each([
    '../../../evil',
    '/tmp/evil',
    'a/b',
    'a\\b',
    '',
    '.',
    '..',
    '-x',
    'a\u001B]0;x\u0007',
    'ä',
    'x'.repeat(201),
  ])('that is none is refused, so that no path is built with it: %j', async (id) => {
    const { page, home } = await openService();
    await writeFile(join(folder, 'run.json'), JSON.stringify({ ...runRecord({ status: 'finished' }), id }));
    await rename(folder, join(home, 'home', 'runs', 'evil'));
    expect((await page.hub.runs({})).rows).toEqual([]);
    const exporting = page.hub.exportRun(join(home, 'home', 'runs', 'evil'), { formats: [], checkpoints: null });
    await expect(exporting).rejects.toThrow(/it must be letters|No run has/);
    expect(await readdir(join(home, 'home', 'exports')).catch(() => [])).toEqual([]);
    await expect(exportRun(join(home, 'home', 'runs', 'evil'), { to: home, zip: false })).rejects.toThrow(
      'it must be letters, digits, "_" and "-", at most 200',
    );
  });
});

describe('the name of a checkpoint', () => {
  it('that leads out of its folder makes it invalid', async () => {
    const record = { format: 1, rank: 0, name: '../../../evil', epoch: 1, step: 20, monitor: null, score: null };
    const rest = { sha256: '0'.repeat(64), bytes: 1, savedAt: '2026-01-02T03:05:05.000Z' };
    await write('checkpoints/rank-0/final.json', JSON.stringify({ ...record, ...rest }));
    await write('checkpoints/rank-0/final.safetensors', 'x');
    const { skipped } = await exportRun(folder, { to: join(await temporaryFolder(), 'export'), zip: false });
    expect(skipped).toEqual([
      { path: 'checkpoints/rank-0/final.safetensors', reason: 'its record checkpoints/rank-0/final.json is damaged' },
    ]);
  });
});

describe('the path of a file in an export', () => {
  it('is refused by folder and ZIP if it leads out', async () => {
    const to = await temporaryFolder();
    const entry = (path: string) => ({ path, compress: true, open: () => expect.unreachable() });
    const folderSink = await openFolderSink(join(to, 'export'), false);
    const zipSink = await openZipSink(join(to, 'export.zip'), false);
    for (const path of ['../evil', '/evil', 'a/../../evil', 'a//b', './a', 'a\\..\\b', 'C:evil', 'a\nb', '']) {
      await expect(folderSink.add(entry(path))).rejects.toThrow('cannot be part of an export');
      await expect(zipSink.add(entry(path))).rejects.toThrow('cannot be part of an export');
    }
    await zipSink.finish();
    expect(await readdir(to)).toEqual(['export.zip']);
  });

  it('stays inside of any folder if it is safe', () => {
    const part = fc.oneof(fc.constantFrom('.', '..', '', '~', 'a', '%2e%2e', 'C:'), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const path = parts.join('/');
        fc.pre(isSafePath(path));
        expect(join('/base', path).startsWith('/base/')).toBe(true);
      }),
      { seed: 4, numRuns: 2000 },
    );
  });

  it.each(['logs/a\u001B[2J.log', 'logs/a\nb.log', 'logs/..\\..\\evil.log'])(
    'with characters of terminals or other systems is left out: %j',
    async (path) => {
      await write(path, 'x');
      const { skipped, paths } = await exportRun(folder, { to: join(await temporaryFolder(), 'e.zip'), zip: true });
      expect(skipped).toEqual([{ path, reason: 'its name has characters that are not safe in other systems' }]);
      expect(paths).toContain('logs/rank-0.log');
    },
  );
});

it('exports no cell that a spreadsheet takes for a formula, and leaves numbers as they are', async () => {
  await write(
    'metrics.csv',
    'epoch,step,=HYPERLINK("http://x"),+a,-b,@c,d\n0,1,-0.5,1e-7,-Infinity,NaN,+3\n'.replaceAll('"', "'"),
  );
  await write('devices.csv', 'time,device,load\n2026-01-02T03:04:05.678Z,=1+1,0.5\n-1,@x,-0.25\n');
  const to = join(await temporaryFolder(), 'export');
  await exportRun(folder, { to, zip: false, formats: ['csv'] });
  expect(await readFile(join(to, 'metrics.csv'), 'utf8')).toBe(
    "epoch,step,'=HYPERLINK('http://x'),+a,-b,'@c,d\n0,1,-0.5,1e-7,-Infinity,NaN,3\n",
  );
  expect(await readFile(join(to, 'devices.csv'), 'utf8')).toBe(
    "time,device,load\n2026-01-02T03:04:05.678Z,'=1+1,0.5\n-1,'@x,-0.25\n",
  );
});
