import { expect, it } from 'vitest';
import { dataFormats } from '../../../core/preprocessing/data-formats.ts';
import packaging from '../../../electron-builder.config.ts';

/**
 * Types that systems know by themselves: of MIME after the freedesktop.org database, of macOS after Apple's list of
 * uniform type identifiers.
 */
const known = new Map([
  ['json', ['application/json', 'public.json']],
  ['csv', ['text/csv', 'public.comma-separated-values-text']],
  ['tsv', ['text/tab-separated-values', 'public.tab-separated-values-text']],
  [
    'xlsx',
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'org.openxmlformats.spreadsheetml.sheet'],
  ],
  ['xlsm', ['application/vnd.ms-excel.sheet.macroEnabled.12', 'org.openxmlformats.spreadsheetml.sheet.macroenabled']],
]);
const endings = dataFormats.flatMap(({ holds, endings: own }): readonly string[] => (holds === 'table' ? own : []));

/** What each of the packages for Linux and macOS is offered for: types, and endings of files. */
const { linux, mac } = packaging;
const offered = [
  [...linux.mimeTypes, ...linux.fileAssociations.map(({ ext }) => ext)],
  [
    ...mac.extendInfo.CFBundleDocumentTypes.flatMap((own) => own.LSItemContentTypes),
    ...mac.fileAssociations.map(({ ext }) => ext),
  ],
];

it.each(endings)('files .%s open with the app on Linux and macOS', (ending) => {
  const [type, contentType] = known.get(ending) ?? [ending, ending];
  expect(offered[0]).toContain(type);
  expect(offered[1]).toContain(contentType);
});

it('takes no table from another program: it is offered, and on Windows no table at all', () => {
  for (const { rank } of [...packaging.linux.fileAssociations, ...packaging.mac.fileAssociations])
    expect(rank).toBe('Alternate');
  expect(packaging.fileAssociations.map(({ ext }) => ext)).toEqual(['tutti']);
  expect(packaging.win).not.toHaveProperty('fileAssociations');
});
