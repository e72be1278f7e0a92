import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderOptionsDoc } from '../../../scripts/generate/options-doc.ts';

describe('docs/options.md', () => {
  it("equals the schema's output; if not, run: node scripts/generate/options-page.ts", () => {
    const file = new URL('../../../docs/options.md', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(renderOptionsDoc());
  });

  it('has a row for an option with its default, unit, values and meaning', () => {
    expect(renderOptionsDoc()).toContain(
      '| `--batch-size` | `128` | samples | a whole number of at least 1 | Samples per step and rank (B). |',
    );
  });
});
