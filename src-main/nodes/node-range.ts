/** The numbers of nodes with which a launch may train. */
export interface NodeRange {
  least: number;
  most: number;
  /** How long nodes that are late hold up the others once enough are there, in ms. */
  waitMs: number;
}

/** As `--nodes` takes it: `2:4:30`. */
export function nodesText({ least, most, waitMs }: NodeRange): string {
  return `${least}:${most}:${waitMs / 1_000}`;
}
