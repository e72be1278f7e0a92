import { describe, expect, it } from 'vitest';
import { rereadStale } from '../../../../core/node/file-error.ts';

const stale = (): Error => Object.assign(new Error('Unknown system error -116'), { code: 'Unknown system error -116' });

describe('a file that another machine replaces', () => {
  it('is read again until what was opened is still there', async () => {
    let calls = 0;
    const read = async (): Promise<string> => {
      calls += 1;
      if (calls < 4) throw stale();
      return 'new';
    };
    expect(await rereadStale(read)).toBe('new');
    expect(calls).toBe(4);
  });

  it('fails at once for any other reason, and in the end also where it is always stale', async () => {
    let calls = 0;
    const fail = (error: Error) => async (): Promise<never> => {
      calls += 1;
      throw error;
    };
    await expect(rereadStale(fail(new Error('broken')))).rejects.toThrow('broken');
    expect(calls).toBe(1);
    await expect(rereadStale(fail(stale()))).rejects.toThrow('Unknown system error -116');
    expect(calls).toBe(101);
  });
});
