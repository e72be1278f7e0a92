import type { PlainObject } from '../../../core/options/index.ts';

/** What the address of the form says is changed; null where it says nothing that can be read. */
export function readOverrides(parameter: unknown): PlainObject | null {
  if (typeof parameter !== 'string') return null;
  try {
    const value: unknown = JSON.parse(parameter);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    // An address may be cut off when it is copied: the form then begins with the defaults.
    return null;
  }
}

/** The parameter for these changes; empty for none. */
export function writeOverrides(overrides: PlainObject): string {
  return Object.keys(overrides).length === 0 ? '' : JSON.stringify(overrides);
}
