/**
 * One shortest circle of each group of nodes that reach each other, in the order of the graph.
 * @param graph each node with the nodes it points to; targets that are not nodes are ignored
 */
export function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const seen = new Set<string>();
  const circles: string[][] = [];
  for (const node of graph.keys()) {
    if (seen.has(node)) continue;
    const circle = shortestCircle(graph, node);
    if (circle === null) continue;
    circles.push(circle);
    for (const member of membersAround(graph, node)) seen.add(member);
  }
  return circles;
}

/** The shortest path from `start` back to itself, without the end, or null. Breadth first. */
function shortestCircle(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return pathTo(node, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return null;
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let node = end; node !== start; path.unshift(node)) node = cameFrom.get(node) ?? start;
  return path;
}

/** All nodes that `node` reaches and that reach it. */
function membersAround(graph: ReadonlyMap<string, readonly string[]>, node: string): string[] {
  return [...reachableFrom(graph, node)].filter((other) => reachableFrom(graph, other).has(node));
}

function reachableFrom(graph: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const reached = new Set<string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return reached;
}
