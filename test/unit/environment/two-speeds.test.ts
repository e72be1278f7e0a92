import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from '../../environment/test-home.ts';
import { longUnitTests, quickEndToEndTests, quickIntegrationTests } from '../../environment/two-speeds.ts';

describe.each([
  { list: 'longUnitTests', files: longUnitTests, folder: 'test/unit/' },
  { list: 'quickIntegrationTests', files: quickIntegrationTests, folder: 'test/integration/' },
  { list: 'quickEndToEndTests', files: quickEndToEndTests, folder: 'test/e2e/' },
])('$list', ({ files, folder }) => {
  it('names files of tests of its kind that exist, each once and in order', () => {
    expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
    expect(files.filter((file) => !file.startsWith(folder) || !file.endsWith('.test.ts'))).toEqual([]);
    expect(files).toEqual([...new Set(files)].sort());
  });
});
