import { defineConfig } from 'vitepress';
import { anchorOf } from '../../scripts/doc-references.ts';

export default defineConfig({
  title: 'Tutti',
  description: 'Deep ensembles on one machine, in TensorFlow.js',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Pages are the repository's Markdown files under their own paths, so that links between them work on both sides.
  srcDir: '..',
  srcExclude: ['node_modules/**', 'out/**', 'dist/**', 'runs/**', 'docs/api/README.md'],
  // Otherwise every config.ts of the repository would count as configuration of the site.
  additionalConfig: {},
  rewrites: { 'docs/index.md': 'index.md' },
  outDir: '../out/site',
  cacheDir: '../node_modules/.cache/vitepress',
  markdown: { anchor: { slugify: anchorOf } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/README' },
      { text: 'Projects', link: '/docs/projects' },
      { text: 'Library', link: '/docs/api/Projects-and-callbacks' },
      { text: 'Architecture', link: '/docs/architecture' },
    ],
    sidebar: [
      {
        text: 'Use',
        items: [
          { text: 'Start', link: '/README' },
          { text: 'Writing a project', link: '/docs/projects' },
          { text: 'Tables', link: '/docs/guides/tables' },
          { text: 'Images', link: '/docs/guides/images' },
          { text: 'More data than memory', link: '/docs/guides/streams' },
          { text: 'Forecast a series', link: '/docs/guides/series' },
          { text: 'Classify texts', link: '/docs/guides/text' },
          { text: 'Sequence to sequence', link: '/docs/guides/sequences' },
          { text: 'Several labels', link: '/docs/guides/labels' },
          { text: 'Own layers and losses', link: '/docs/guides/custom' },
          { text: 'From a run to an answer', link: '/docs/guides/answer' },
          { text: 'What the ensemble knows', link: '/docs/guides/uncertainty' },
          { text: 'Options', link: '/docs/options' },
          { text: 'Metrics', link: '/docs/metrics' },
          { text: 'Dashboard', link: '/docs/dashboard' },
          { text: 'GPUs', link: '/docs/gpus' },
          { text: 'Determinism', link: '/docs/determinism' },
          { text: 'Guarantees', link: '/docs/guarantees' },
          { text: 'File formats', link: '/docs/formats' },
          { text: 'JSON output', link: '/docs/json' },
        ],
      },
      {
        text: 'Library',
        items: [
          { text: 'Projects and callbacks', link: '/docs/api/Projects-and-callbacks' },
          { text: 'Data sets', link: '/docs/api/Data-sets' },
          { text: 'Metrics', link: '/docs/api/Metrics' },
          { text: 'Figures', link: '/docs/api/Figures' },
        ],
      },
      {
        text: 'Examples',
        collapsed: true,
        items: [
          { text: 'Heteroscedastic regression', link: '/examples/00_heteroscedastic_regression/README' },
          { text: 'Joint early stopping', link: '/examples/01_joint_early_stopping/README' },
          { text: 'Coupled members', link: '/examples/02_coupled_ssl/README' },
          { text: 'Joint training', link: '/examples/05_joint_training/README' },
          { text: 'Diverging hyperparameters', link: '/examples/06_hdet/README' },
          { text: 'Parallel ensemble', link: '/examples/07_parallel_ensemble/README' },
        ],
      },
      {
        text: 'Measured',
        collapsed: true,
        items: [
          { text: 'Benchmarks', link: '/docs/benchmarks' },
          { text: 'References', link: '/docs/references' },
          { text: 'Backends', link: '/docs/backends' },
          { text: 'Mutation test', link: '/docs/mutation' },
          { text: 'Licences', link: '/docs/licences' },
        ],
      },
      {
        text: 'Architecture',
        collapsed: true,
        items: [
          { text: 'Overview', link: '/docs/architecture' },
          { text: 'Processes and failures', link: '/docs/architecture/processes' },
          { text: 'Training loop', link: '/docs/architecture/training' },
          { text: 'Strategies', link: '/docs/architecture/strategies' },
          { text: 'Stacked members', link: '/docs/architecture/stacked-members' },
          { text: 'Collectives', link: '/docs/architecture/collectives' },
          { text: 'Data', link: '/docs/architecture/data' },
          { text: 'Storage', link: '/docs/architecture/storage' },
          { text: 'Kernels and backends', link: '/docs/architecture/kernels' },
          { text: 'Devices', link: '/docs/architecture/devices' },
          { text: 'Dashboard', link: '/docs/architecture/dashboard' },
        ],
      },
      { text: 'Contributing', link: '/CONTRIBUTING' },
    ],
  },
});
