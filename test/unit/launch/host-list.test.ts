import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandHostList } from '../../../core/launch/launcher.ts';

describe('hosts of a job', () => {
  // Examples of `scontrol show hostnames`.
  it.each([
    ['', []],
    ['login1', ['login1']],
    ['node[01-03,7],login', ['node01', 'node02', 'node03', 'node7', 'login']],
    ['rack[1-2]n[0-1]', ['rack1n0', 'rack1n1', 'rack2n0', 'rack2n1']],
    ['gpu[098-101]-ib', ['gpu098-ib', 'gpu099-ib', 'gpu100-ib', 'gpu101-ib']],
  ])('%s', (list, hosts) => expect(expandHostList(list)).toEqual(hosts));

  it.each(['node[1-3', 'node1-3]', 'node[3-1]', 'node[a-b]', 'n[[1]]', 'n[0-99999999]'])('refuses %s', (list) =>
    expect(() => expandHostList(list)).toThrow('is not a list of hosts'),
  );

  it('gives as many names as the ranges have numbers, each as wide as its first', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(40), fc.integer({ min: 1, max: 6 }), (first, more, width) => {
        const from = String(first).padStart(width, '0');
        const hosts = expandHostList(`n[${from}-${first + more}]`);
        expect(hosts).toHaveLength(more + 1);
        expect(hosts.map((host) => Number(host.slice(1)))).toEqual(
          Array.from({ length: more + 1 }, (_, i) => first + i),
        );
        expect(hosts.every((host) => host.length > from.length)).toBe(true);
      }),
    );
  });
});
