import { expect, it } from 'vitest';
import { aboutText } from '../../../src-main/desktop/about-text.ts';

it('names what runs, and the licence', () => {
  const versions = { electron: '45.4.1', chrome: '150.0.1', node: '24.1.0', v8: '15.0', zlib: '1.3' };
  expect(aboutText('Trains ensembles', versions)).toBe(
    [
      'Trains ensembles.',
      '',
      'Electron 45.4.1',
      'Chromium 150.0.1',
      'Node 24.1.0',
      'V8 15.0',
      '',
      'MIT licence. The packages in it have their own licences.',
    ].join('\n'),
  );
});
