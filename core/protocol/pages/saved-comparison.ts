import { z } from 'zod';

/** What the user chooses of a saved comparison. */
export const comparisonContentSchema = z.strictObject({
  name: z.string().trim().min(1).max(200),
  /**
   * The parameters of the address of the page Compare: `runs`, `metric` (the panels), `baseline`, axes, zoom and
   * selections.
   */
  query: z
    .record(z.string().regex(/^[a-z]{1,20}$/), z.string().max(20_000))
    .refine((query) => (query.runs ?? '') !== '', 'it must name runs'),
});
export type ComparisonContent = z.output<typeof comparisonContentSchema>;

/** A comparison that the user saved: `<id>.json` in `comparisons/` of Tutti's home. */
export const savedComparisonSchema = comparisonContentSchema.extend({
  format: z.literal(1),
  id: z.uuid(),
  /** When it was saved or changed last. */
  savedAt: z.iso.datetime(),
});
export type SavedComparison = z.output<typeof savedComparisonSchema>;

export interface ComparisonList {
  /** The latest first. */
  comparisons: SavedComparison[];
  /** One sentence for each file that could not be read. */
  problems: string[];
}
