/** Configures `npm run package`: the desktop app for the system and processor that it is built on. */
export default {
  appId: 'invalid.tutti.desktop',
  productName: 'Tutti',
  directories: { output: 'dist' },
  extraMetadata: {
    main: 'out/main/electron.js',
    // Debian's packages require addresses. Publishers replace them with their own.
    homepage: 'https://tutti.invalid',
  },
  /** Besides these: package.json and the runtime dependencies. */
  files: [
    'out/main/**',
    'out/preload/**',
    'out/renderer/**',
    'out/report/**',
    'core/**',
    'src-main/**',
    'workers/**',
    'examples/**',
  ],
  // Nothing is compiled for Electron, because workers run on the Node of the optional dependencies.
  npmRebuild: false,
  asar: true,
  /** Files that this Node reads. It cannot read archives, and a binary inside an archive could not be started. */
  asarUnpack: ['package.json', 'core/**', 'src-main/**', 'workers/**', 'examples/**', 'node_modules/**'],
  electronFuses: {
    runAsNode: false,
    enableCookieEncryption: true,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    // The page has a separate scheme.
    grantFileProtocolExtraPrivileges: false,
  },
  linux: { target: ['deb', 'AppImage'], category: 'Science', maintainer: 'Tutti <packages@tutti.invalid>' },
  mac: {
    target: 'dmg',
    category: 'public.app-category.developer-tools',
    extendInfo: {
      // Folders can be dropped on the app's icon, and are listed as its recent documents.
      CFBundleDocumentTypes: [
        {
          CFBundleTypeName: 'Folder',
          CFBundleTypeRole: 'Viewer',
          LSHandlerRank: 'None',
          LSItemContentTypes: ['public.folder'],
        },
      ],
    },
  },
  win: { target: 'nsis' },
  nsis: { oneClick: false, perMachine: false },
};
