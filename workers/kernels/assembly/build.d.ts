/** How many panels of B make a tile of a matrix product: a build's constant, 1 or 2. */
declare const panelsPerTile: i32;
