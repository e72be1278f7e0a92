/** The number of panels of B in a tile of a matrix product: a constant of the build, 1 or 2. */
declare const panelsPerTile: i32;
