import { describe, expect, it } from 'vitest';
import { MadeOnce } from '../../../core/text/made-once.ts';

describe('a value that is made once', () => {
  it('is the same for all who ask, meanwhile and later', async () => {
    const kept = new MadeOnce<object>();
    expect(kept.made).toBeNull();
    const making = Promise.withResolvers<object>();
    const asked = [kept.get(() => making.promise), kept.get(() => Promise.reject(new Error('asked twice')))];
    const value = {};
    making.resolve(value);
    expect(await Promise.all(asked)).toEqual([value, value]);
    expect(await kept.get(() => Promise.resolve({ other: true }))).toBe(value);
    expect(await kept.made).toBe(value);
  });

  it('is made again after a failure, which all get who waited for it', async () => {
    const kept = new MadeOnce<number>();
    const making = Promise.withResolvers<number>();
    const asked = [kept.get(() => making.promise), kept.get(() => Promise.resolve(1))];
    making.reject(new Error('the disk is full'));
    for (const one of asked) await expect(one).rejects.toThrow('the disk is full');
    expect(kept.made).toBeNull();
    expect(await kept.get(() => Promise.resolve(2))).toBe(2);
  });

  it('may be asked for at once by who was told of the failure', async () => {
    const kept = new MadeOnce<number>();
    const again = kept.get(() => Promise.reject(new Error('no'))).catch(() => kept.get(() => Promise.resolve(3)));
    expect(await again).toBe(3);
  });
});
