/** What should be known beside a suite's figures: where the time goes, why a target is missed. By suite, a paragraph each. */
export const notes: Record<string, string[]> = {};
