/**
 * Configures `npm run package`: the desktop app for the system and processor that it is built on. Signing, notarisation and updates are configured by
 * environment variables (docs/architecture/dashboard.md, "Package").
 */
const { env } = process;

/** Where the packages of later versions will be found; undefined for packages that never look. */
const updateAddress = env.TUTTI_UPDATE_URL;

/**
 * Tables of which systems know no type by themselves: the packages bring it. One entry for each ending, as the package
 * for Linux takes one alone.
 */
const ownTables = [
  { ext: 'jsonl', name: 'JSON lines', mimeType: 'application/x-ndjson' },
  { ext: 'ndjson', name: 'JSON lines', mimeType: 'application/x-ndjson' },
  { ext: 'parquet', name: 'Parquet table', mimeType: 'application/vnd.apache.parquet' },
  { ext: 'arrow', name: 'Arrow table', mimeType: 'application/vnd.apache.arrow.file' },
  { ext: 'feather', name: 'Arrow table', mimeType: 'application/vnd.apache.arrow.file' },
].map((own) => ({ ...own, description: own.name, role: 'Viewer', rank: 'Alternate' }));

/** Files of dependencies that nothing reads at run time. koffi's `src` must stay: its loader reads it. */
const unread = [
  '!**/*.map',
  '!node_modules/**/*.{ts,cts,mts}',
  '!node_modules/node-*/{include,share}/**',
  '!node_modules/node-bin-*/{include,share}/**',
  // TensorFlow.js has each module ten times. Node reads one bundle.
  '!node_modules/@tensorflow/*/{dist,src,wasm-out}/**',
  'node_modules/@tensorflow/*/dist/*.node.js',
  'node_modules/@tensorflow/*/dist/*.wasm',
  // electron-updater requires its modules, `require` reads `lib`.
  '!node_modules/js-yaml/{bin,dist}/**',
  '!node_modules/@bufbuild/protobuf/dist/cjs/**',
  '!node_modules/node-*/{CHANGELOG,README}.md',
  '!node_modules/umap-js/{src,test}/**',
  '!node_modules/zod/src/**',
  '!node_modules/{js-queue,strong-type}/assets/**',
  '!node_modules/koffi/doc/**',
  // Electron needs glibc.
  '!node_modules/@koromix/koffi-linux-*/musl_*/**',
  '!node_modules/csv-parse/dist/{iife,umd}/**',
  '!node_modules/seedrandom/coverage/**',
  // Figures use two fonts.
  '!node_modules/dejavu-fonts-ttf/{fontconfig,ttf}/**',
  '!node_modules/dejavu-fonts-ttf/*.txt',
  'node_modules/dejavu-fonts-ttf/ttf/DejaVuSans{,-Bold}.ttf',
];

/** What this Node reads, also for the command line: it cannot read archives, and a binary inside an archive could not be started. */
const besideArchive = [
  'out/renderer/**',
  'out/report/**',
  'core/**',
  'src-main/**',
  'workers/**',
  'examples/**',
  'templates/**',
];

export default {
  appId: 'invalid.tutti.desktop',
  productName: 'Tutti',
  copyright: 'Copyright © 2026 The Tutti authors',
  directories: { output: 'dist', buildResources: 'packaging' },
  extraMetadata: {
    main: 'out/main/electron.js',
    productName: 'Tutti',
    // On Linux, desktops find the icon and the name of a window by this.
    desktopName: 'tutti-desktop.desktop',
    // Debian's packages require addresses, also the homepage of package.json. Publishers replace them with their own.
    author: { name: 'The Tutti authors', email: 'packages@tutti.invalid' },
  },
  /** Besides these: package.json and the runtime dependencies. */
  files: ['out/main/**', 'out/preload/**', ...besideArchive, 'LICENSE', 'docs/licences.md', ...unread],
  // The pages are in English.
  electronLanguages: ['en-US'],
  // Nothing is compiled for Electron, because workers run on the Node of the optional dependencies.
  npmRebuild: false,
  asar: true,
  asarUnpack: ['package.json', ...besideArchive, 'node_modules/**'],
  electronFuses: {
    runAsNode: false,
    // Tutti stores no cookies in Electron, and encryption would ask for the system's keyring.
    enableCookieEncryption: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    // The page has a separate scheme.
    grantFileProtocolExtraPrivileges: false,
  },
  publish: updateAddress === undefined ? null : { provider: 'generic', url: updateAddress },
  // With it, a build without a certificate fails instead of making an unsigned installer.
  forceCodeSigning: env.TUTTI_FORCE_SIGNING === 'true',
  /**
   * Opens exported runs. Folders of runs and projects have no separate type: with `inode/directory`, a desktop without a default for folders would open every folder in Tutti.
   */
  fileAssociations: [
    {
      ext: 'tutti',
      name: 'Tutti run',
      description: 'Exported run of Tutti',
      mimeType: 'application/x-tutti-run',
      role: 'Viewer',
    },
  ],
  linux: {
    target: ['deb', 'AppImage'],
    // `tutti` is the command line.
    executableName: 'tutti-desktop',
    syncDesktopName: true,
    icon: 'packaging/icons',
    category: 'Science',
    // "Open with" begins a project from a table. On Windows, an entry would take the files from Excel.
    mimeTypes: [
      'text/csv',
      'text/tab-separated-values',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.ms-excel.sheet.macroEnabled.12',
      'application/json',
    ],
    fileAssociations: ownTables,
    synopsis: 'Trains deep ensembles and shows them',
    maintainer: 'The Tutti authors <packages@tutti.invalid>',
  },
  deb: {
    packageName: 'tutti',
    packageCategory: 'science',
    /** What Electron's binary and libraries need on Debian 12, and `setpriv` and `taskset`, which end and place workers. */
    depends: [
      'libasound2',
      'libatk-bridge2.0-0',
      'libatk1.0-0',
      'libatspi2.0-0',
      'libc6',
      'libcairo2',
      'libcups2',
      'libdbus-1-3',
      'libdrm2',
      'libexpat1',
      'libgbm1',
      'libglib2.0-0',
      'libgtk-3-0',
      'libnotify4',
      'libnspr4',
      'libnss3',
      'libpango-1.0-0',
      'libx11-6',
      'libx11-xcb1',
      'libxcb1',
      'libxcomposite1',
      'libxdamage1',
      'libxext6',
      'libxfixes3',
      'libxkbcommon0',
      'libxrandr2',
      'libstdc++6',
      'util-linux',
      'xdg-utils',
    ],
    recommends: ['libgl1'],
    fpm: ['packaging/linux/tutti=/usr/bin/tutti'],
  },
  mac: {
    target: ['dmg', 'zip'],
    icon: 'packaging/icons/tutti.icns',
    category: 'public.app-category.developer-tools',
    hardenedRuntime: true,
    entitlements: 'packaging/mac/entitlements.plist',
    entitlementsInherit: 'packaging/mac/entitlements.plist',
    notarize: env.APPLE_API_KEY !== undefined || env.APPLE_ID !== undefined,
    extendInfo: {
      // Folders can be dropped on the app's icon, and are listed as its recent documents.
      CFBundleDocumentTypes: [
        {
          CFBundleTypeName: 'Folder',
          CFBundleTypeRole: 'Viewer',
          LSHandlerRank: 'None',
          LSItemContentTypes: ['public.folder'],
        },
        {
          CFBundleTypeName: 'Table',
          CFBundleTypeRole: 'Viewer',
          LSHandlerRank: 'Alternate',
          LSItemContentTypes: [
            'public.comma-separated-values-text',
            'public.tab-separated-values-text',
            'org.openxmlformats.spreadsheetml.sheet',
            'org.openxmlformats.spreadsheetml.sheet.macroenabled',
            'public.json',
          ],
        },
      ],
    },
    fileAssociations: ownTables,
  },
  win: { target: 'nsis', icon: 'packaging/icons/tutti.ico' },
  nsis: { oneClick: false, perMachine: false, include: 'packaging/windows/installer.nsh' },
};
