import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FolderCopy } from '../../../src-main/attach/link/folder-copy.ts';
import { FolderFeed } from '../../../src-main/attach/served/folder-feed.ts';

const growing = ['metrics.csv', 'events.jsonl', 'logs/rank-0.log', 'logs/rank-11.log'];
const whole = ['checkpoints/rank-0/final.json', 'plots/roc.svg', 'predictions/test/rank-1/final.safetensors'];
const kept = ['state/rank-0/round-1.safetensors', 'checkpoints/rank-0/final.safetensors', 'notes.json', 'run.json.tmp'];

const bytes = fc.uint8Array({ maxLength: 40, max: 127 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), path: fc.constantFrom(...growing), bytes }),
  fc.record({
    kind: fc.constant('replace' as const),
    path: fc.constantFrom(...growing, ...whole, ...kept, 'run.json'),
    bytes,
  }),
  fc.record({ kind: fc.constant('remove' as const), path: fc.constantFrom(...whole), bytes }),
  fc.record({ kind: fc.constant('follow' as const), path: fc.constant(''), bytes }),
  /** The link broke: a new feed learns what the copy has. */
  fc.record({ kind: fc.constant('again' as const), path: fc.constant(''), bytes }),
);

describe('the copy of a run elsewhere', () => {
  it('has the bytes of every followed file, whatever happens in between, and no others', async () => {
    const base = mkdtempSync(join(tmpdir(), 'tutti-copy-'));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const [from, to] = ['from', 'to'].map((name) => join(base, `${(count += 1)}-${name}`));
        mkdirSync(from);
        mkdirSync(to);
        const copy = new FolderCopy(to, async (text) => writeFileSync(join(to, 'run.json'), text));
        let feed = new FolderFeed(from, copy.held);
        const follow = async (): Promise<void> => {
          for (let news = await feed.next(); news !== null; news = await feed.next())
            await copy.take(news.parts, news.bytes, news.removed);
        };
        for (const { kind, path, bytes: content } of steps) {
          if (kind === 'follow') await follow();
          else if (kind === 'again') feed = new FolderFeed(from, copy.held);
          else change(join(from, path), kind, content);
        }
        await follow();
        for (const path of [...growing, ...whole, 'run.json'])
          expect([path, read(to, path)]).toEqual([path, read(from, path)]);
        for (const path of kept) expect(existsSync(join(to, path))).toBe(false);
      }),
      { numRuns: 60 },
    );
    rmSync(base, { recursive: true });
  });

  it('gets the record only once all that it tells of is there', async () => {
    const from = mkdtempSync(join(tmpdir(), 'tutti-copy-'));
    writeFileSync(join(from, 'run.json'), 'ended');
    writeFileSync(join(from, 'metrics.csv'), new Uint8Array(9 * 2 ** 20));
    const feed = new FolderFeed(from, []);
    const paths: string[][] = [];
    for (let news = await feed.next(); news !== null; news = await feed.next()) {
      expect(news.bytes.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(4.1 * 2 ** 20);
      paths.push(news.parts.map(({ path }) => path));
    }
    expect(paths).toEqual([['metrics.csv'], ['metrics.csv'], ['metrics.csv', 'run.json']]);
    rmSync(from, { recursive: true });
  });

  it.each(['../evil.csv', 'checkpoints/../../evil.json', '/etc/passwd', 'sources/x/project.ts', 'logs/rank-0.log/..'])(
    'refuses %s',
    async (path) => {
      const copy = new FolderCopy('/nowhere', async () => {});
      const part = { path, identity: '', offset: 0, isNew: true };
      await expect(copy.take([part], [new Uint8Array(1)])).rejects.toThrow('none of a run that is followed');
      await expect(copy.take([], [], [path])).rejects.toThrow('none of a run that is followed');
    },
  );
});

function change(path: string, kind: 'append' | 'replace' | 'remove', content: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  if (kind === 'append') appendFileSync(path, content);
  else if (kind === 'remove') rmSync(path, { force: true });
  else {
    writeFileSync(`${path}.next`, content);
    renameSync(`${path}.next`, path);
  }
}

function read(folder: string, path: string): string | null {
  const full = join(folder, path);
  return existsSync(full) ? readFileSync(full).toString('hex') : null;
}
