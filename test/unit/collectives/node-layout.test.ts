import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NodeLayout } from '../../../workers/collectives/mpi/node-layout.ts';

/** The layout of each rank of a group. @param nodes the node of each rank */
function layoutsOf(nodes: readonly string[]): NodeLayout[] {
  const leaders = nodes.map((node) => nodes.indexOf(node));
  return nodes.map((_, rank) => new NodeLayout(rank, leaders));
}

it('says which ranks share a node, and who takes what for whom', () => {
  const layouts = layoutsOf('aabba'.split(''));
  expect(layouts.map(({ locals }) => locals)).toEqual([
    [0, 1, 4],
    [0, 1, 4],
    [2, 3],
    [2, 3],
    [0, 1, 4],
  ]);
  expect(layouts[1].remotes).toEqual([2, 3]);
  expect(layouts[3].remotes).toEqual([4, 0, 1]);
  // The third rank of node a has no counterpart on node b: the first one takes its part.
  expect([0, 1, 4].map((giver) => layouts[giver].takersOf(giver))).toEqual([[2], [3], [2]]);
  expect(layouts.map(({ givers }) => givers)).toEqual([[2], [3], [4, 0], [1], []]);
});

it("brings each rank's part to each other node exactly once", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 }), (nodes) => {
      const layouts = layoutsOf(nodes);
      for (const [giver, layout] of layouts.entries()) {
        const takers = layout.takersOf(giver);
        const others = [...new Set(nodes)].filter((node) => node !== nodes[giver]);
        expect(takers.map((taker) => nodes[taker]).sort()).toEqual(others.sort());
        const expecting = layouts.flatMap(({ givers }, rank) => (givers.includes(giver) ? [rank] : []));
        expect(expecting).toEqual(takers.sort((first, second) => first - second));
      }
    }),
  );
});
