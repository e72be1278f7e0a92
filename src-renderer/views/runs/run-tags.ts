/** `a, b,, a` as the tags a and b. */
export function parseTags(text: string): string[] {
  const names = text.split(',').map((tag) => tag.trim());
  return [...new Set(names.filter((tag) => tag !== ''))];
}
