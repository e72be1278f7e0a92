/** What a project uses to get its data. */

export { createDataset, createSplits, flattened, gatherBatch, subset, take } from './dataset.ts';
export type { Batch, Dataset, Normalization, Splits } from './dataset.ts';
export { splitDataset } from './split.ts';
export type { SplitSizes } from './split.ts';
export { standardize } from './standardize.ts';
export type { Standardized, TargetScale } from './standardize.ts';
export { mnist } from './mnist.ts';
export type { MnistOptions } from './mnist.ts';
export { cifar10 } from './cifar10.ts';
export { table, uciTable } from './table.ts';
export type { TableOptions, UciName } from './table.ts';
export { gaussianBlobs, heteroscedasticSine, twoMoons } from './synthetic.ts';
export type { GaussianBlobsOptions, HeteroscedasticSineOptions, TwoMoonsOptions } from './synthetic.ts';
export { fetchFile } from './download.ts';
export type { DownloadOptions, DownloadProgress, RemoteFile } from './download.ts';
export type { DataFolders, DataSource } from './locate.ts';
