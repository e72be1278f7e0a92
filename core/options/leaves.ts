/** The options of a configuration with their paths, `earlyStopping.patience`; an array is one value. */
export function leavesOf(config: object, path = ''): [path: string, value: unknown][] {
  return Object.entries(config).flatMap(([key, child]: [string, unknown]): [string, unknown][] => {
    const childPath = path === '' ? key : `${path}.${key}`;
    const hasMembers = typeof child === 'object' && child !== null && !Array.isArray(child);
    return hasMembers ? leavesOf(child, childPath) : [[childPath, child]];
  });
}
