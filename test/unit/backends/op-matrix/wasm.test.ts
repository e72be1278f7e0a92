import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { describeOpMatrix } from '../describe-op-matrix.ts';
import { opMatrix } from './index.ts';

beforeAll(async () => void (await startBackend('wasm')));

describeOpMatrix('wasm');

describe('docs/backends.md', () => {
  it('lists every op of the matrix', async () => {
    const text = await readFile(new URL('../../../../docs/backends.md', import.meta.url), 'utf8');
    for (const [heading, cases] of opMatrix) {
      const section = text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
      const listed = [...section.matchAll(/`([^`]+)`/g)].map(([, op]) => op);
      expect(listed.sort()).toEqual(cases.map(({ op }) => op).sort());
    }
  });
});

describe('an op that a backend lacks', () => {
  it('is named, with a backend to try instead', async () => {
    await tf.setBackend('wasm');
    expect(() => tf.complex([1], [2])).toThrow(/The wasm backend has no op Complex\. Use --backend cpu/);
  });
});
