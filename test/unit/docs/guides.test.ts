import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../../..', path), 'utf8');

it.each([
  ['sequences', 'reversed'],
  ['custom', 'sensors'],
  ['labels', 'labels'],
])('the guide %s shows the project that the integration tests train', (guide, project) => {
  expect(read(`docs/guides/${guide}.md`)).toContain(
    `\`\`\`ts\n${read(`test/integration/projects/${project}/project.ts`)}\`\`\``,
  );
});
