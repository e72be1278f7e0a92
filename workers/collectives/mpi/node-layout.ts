/**
 * Which ranks of a group share a node. Ranks are positions in the group. Where something of a rank is needed by all
 * ranks of another node, it travels there once, to the rank that has the same place on its node (modulo the number of
 * ranks there), so that all ranks of a node share the work.
 */
export class NodeLayout {
  /** Ranks of this rank's node, ascending. */
  readonly locals: readonly number[];
  /** Ranks of other nodes, from the next one on, so that not all send to the same rank at once. */
  readonly remotes: readonly number[];
  readonly #leaders: readonly number[];
  readonly #nodes: ReadonlyMap<number, readonly number[]>;
  readonly #rank: number;

  /** @param leaders the first rank of each rank's node */
  constructor(rank: number, leaders: readonly number[]) {
    const nodes = new Map<number, number[]>();
    for (const [member, leader] of leaders.entries()) nodes.set(leader, [...(nodes.get(leader) ?? []), member]);
    this.#rank = rank;
    this.#leaders = leaders;
    this.#nodes = nodes;
    this.locals = this.#nodeOf(rank);
    this.remotes = leaders
      .map((_, i) => (rank + i) % leaders.length)
      .filter((other) => leaders[other] !== leaders[rank]);
  }

  /** The rank on each other node that takes what `giver`, on this rank's node, has for all ranks there. */
  takersOf(giver: number): number[] {
    const others = [...this.#nodes].filter(([leader]) => leader !== this.#leaders[giver]);
    return others.map(([, members]) => this.#takerAmong(members, giver));
  }

  /** Ranks of other nodes from which this rank takes what they have for all ranks of its node. */
  get givers(): number[] {
    return this.remotes.filter((giver) => this.#takerAmong(this.locals, giver) === this.#rank);
  }

  #takerAmong(members: readonly number[], giver: number): number {
    return members[this.#nodeOf(giver).indexOf(giver) % members.length];
  }

  #nodeOf(rank: number): readonly number[] {
    return this.#nodes.get(this.#leaders[rank]) ?? [];
  }
}
