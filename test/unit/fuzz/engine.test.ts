import { describe, expect, it } from 'vitest';
import { examine } from '../../fuzz/engine/judge.ts';
import { minimise, signatureOf } from '../../fuzz/engine/minimise.ts';
import { mutate } from '../../fuzz/engine/mutate.ts';
import { Random } from '../../fuzz/engine/random.ts';
import { fuzzInThread } from '../../fuzz/engine/watch.ts';
import type { FuzzTarget } from '../../fuzz/engine/target.ts';

const targetOf = (run: FuzzTarget['run']): FuzzTarget => ({ name: 'test', reads: '', seeds: async () => [], run });
const found = (run: FuzzTarget['run'], bytes = Buffer.alloc(10)) => examine(targetOf(run), bytes);

describe('a case', () => {
  it('passes if the reader returns or throws its own error', async () => {
    class OwnError extends Error {}
    expect(await found(() => 1)).toBeNull();
    expect(await found(() => { throw new Error('line 3 has no step'); })).toBeNull(); // prettier-ignore
    expect(await found(() => Promise.reject(new OwnError('no frame')))).toBeNull();
    expect(await found(() => { throw Object.assign(new Error('Cannot read x'), { code: 'ENOENT' }); })).toBeNull(); // prettier-ignore
  });

  it.each<[string, FuzzTarget['run']]>([
    ['a TypeError', () => (null as unknown as string[]).length],
    ['a RangeError of a buffer', (bytes) => bytes.readUInt32LE(9)],
    ['a stack overflow', function recurse(bytes): unknown { return [recurse(bytes)]; }], // prettier-ignore
    ['a SyntaxError', () => JSON.parse('{')],
    ['a rejected SyntaxError', async () => JSON.parse('{')],
    ['no Error at all', () => { throw 'text'; }], // prettier-ignore
    ['an error without words', () => { throw new Error(''); }], // prettier-ignore
    ['a coded error of Node', () => { throw Object.assign(new Error('bad'), { code: 'ERR_OUT_OF_RANGE' }); }], // prettier-ignore
  ])('is a finding for %s', async (_what, run) => {
    expect(await found(run)).toMatchObject({ kind: 'unexpected error' });
  });

  it('is a finding where memory follows a length that the input only announces', async () => {
    const announced = Buffer.alloc(4);
    announced.writeUInt32LE(2 ** 28);
    expect(await found((bytes) => new Uint8Array(bytes.readUInt32LE(0)), announced)).toMatchObject({ kind: 'memory' });
    expect(await found((bytes) => new Uint8Array(bytes.length), announced)).toBeNull();
  });
});

describe('the engine', () => {
  it('minimises a finding to the bytes that cause it', async () => {
    const target = targetOf((bytes) => {
      if (bytes.includes('XY')) throw new TypeError('XY');
    });
    const input = Buffer.from(`${'a'.repeat(300)}XY${'b'.repeat(500)}`);
    const finding = await examine(target, input);
    if (finding === null) throw new Error('The target accepts the input.');
    const tried: number[] = [];
    const smallest = await minimise(target, input, finding, { begin: (bytes) => void tried.push(bytes.length) });
    expect(Buffer.from(smallest).toString()).toBe('XY');
    expect(tried.length).toBeGreaterThan(0);
  });

  it('takes errors from one place for one finding, whatever their values', () => {
    const message = (value: number, line: number) => `TypeError: ${value}\n    at read (file:///x/core/a.ts:${line}:5)`;
    const signature = (text: string) => signatureOf({ kind: 'unexpected error', message: text });
    expect(signature(message(1, 7))).toBe(signature(message(2, 7)));
    expect(signature(message(1, 7))).not.toBe(signature(message(1, 8)));
  });

  it('draws the same inputs from the same seed', () => {
    const inputs = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 50 }, () => mutate(Buffer.from('{"a":[1,2],"b":"c"}'), random, 1000).toString('hex'));
    };
    expect(inputs(5)).toEqual(inputs(5));
    expect(new Set([...inputs(5), ...inputs(6)]).size).toBeGreaterThan(80);
  });

  it('reaches branches of the product by mutation', async () => {
    const report = await fuzzInThread({ group: 'requests', target: 'device-selection', cases: 400, seed: 1 });
    expect(report).toMatchObject({ cases: 400, findings: [] });
    expect(report.corpus).toBeGreaterThan(5);
    expect(report.reached).toBeGreaterThan(20);
  });

  it('reports a case that hangs, with its input, and ends its thread', async () => {
    const report = await fuzzInThread({ group: 'faulty', target: 'hangs', cases: 1, seed: 1 }, 100);
    const bytes = expect.objectContaining({ length: 1 });
    expect(report).toMatchObject({ cases: 1, findings: [{ kind: 'hang', bytes }] });
  });
});
