const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const { compare: compareTexts } = new Intl.Collator('en', { numeric: true });

/**
 * Names of classes, or categories, in their order, each once: by value where all are numbers (-10, -2, 0.5, 1, 2, 12), else alphabetically, numbers
 * within names by value (`fold 2` before `fold 10`). Tables, folders and all else order by this function, so that the same classes have the same numbers.
 */
export function orderClasses(names: Iterable<string>): string[] {
  const distinct = [...new Set(names)];
  const compare = distinct.every((name) => decimal.test(name))
    ? (a: string, b: string) => Number(a) - Number(b)
    : compareTexts;
  return distinct.sort((a, b) => compare(a, b) || (a < b ? -1 : 1));
}
