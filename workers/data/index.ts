/**
 * Data sets for projects: from arrays, from files and archives, and synthetic ones; splits and standardization.
 *
 * @module Data sets
 */

export { createDataset, createSplits, flattened, gatherBatch, subset, take } from './dataset.ts';
export type { Batch, CategoryFeatures, Dataset, Normalization, PoolNotes, Splits } from './dataset.ts';
export type { Extras, Field, Fields, SampleExtras } from './fields.ts';
export { splitDataset } from './split.ts';
export type { SplitSizes } from './split.ts';
export type { Fold } from './assign-rows.ts';
export { standardize, standardizeOnDisk } from './standardize.ts';
export type { Standardized, StandardizeOptions, TargetScale } from './standardize.ts';
export { mnist } from './sources/mnist.ts';
export type { MnistOptions } from './sources/mnist.ts';
export { cifar10 } from './sources/cifar10.ts';
export { uciTable } from './sources/uci.ts';
export type { UciName } from './sources/uci.ts';
export { readTable } from './tables/read-table.ts';
export type { ReadTableOptions } from './tables/read-table.ts';
export type { Table } from './tables/table.ts';
export type { Column, ColumnType, NumericColumn, TextColumn } from './tables/columns.ts';
export { tableDataset, tableSplits } from './tables/table-splits.ts';
export type { MissingPolicy, TableDatasetOptions, TableSplitOptions } from './tables/table-splits.ts';
export type { ClassWeights } from './tables/targets.ts';
export { readArrays } from './read-arrays.ts';
export type { FileArray } from './npy.ts';
export { columnTypes, fitted } from './preprocessing/fitted.ts';
export type { Fitted } from './preprocessing/fitted.ts';
export type { TextColumnOptions } from './preprocessing/text-columns.ts';
export type { Preprocessing } from '../../core/preprocessing/schema.ts';
export { imageFolder, imageTable } from './images/image-splits.ts';
export type { ImageFolderOptions, ImageOptions, ImageTableOptions } from './images/image-splits.ts';
export { readImages } from './images/decode.ts';
export type { ImageShape } from './images/decode.ts';
export { moleculeFingerprints } from './molecules/fingerprints.ts';
export type { FingerprintOptions } from './molecules/fingerprints.ts';
export type { FingerprintBlock } from './molecules/fingerprint-block.ts';
export { moleculeDataset } from './molecules/molecule-dataset.ts';
export type { MoleculeOptions, Molecules } from './molecules/molecule-dataset.ts';
export { createSourceDataset, loadDataset } from './streams/source-dataset.ts';
export type { SampleSource } from './streams/sources.ts';
export { createStreamDataset } from './streams/source-dataset.ts';
export type { StreamOptions } from './streams/source-dataset.ts';
export type { OpenStream, SampleStream, StreamContext, StreamReader, StreamSamples } from './streams/sources.ts';
export { arrayShards } from './streams/shards.ts';
export type { RawShape } from './streams/shards.ts';
export { gaussianBlobs, heteroscedasticSine, twoMoons } from './sources/synthetic.ts';
export type { GaussianBlobsOptions, HeteroscedasticSineOptions, TwoMoonsOptions } from './sources/synthetic.ts';
export { fetchFile } from './sources/download.ts';
export type { DownloadOptions, DownloadProgress, RemoteFile } from './sources/download.ts';
export type { DataFolders, DataSource } from './sources/locate.ts';
export { seriesOf } from './series/series-of.ts';
export type { Series, SeriesColumns } from './series/series-of.ts';
export type { StepOrder } from './series/steps.ts';
export { windows, windowSplits } from './series/windows.ts';
export type { SeriesOptions, SeriesSplitSizes } from './series/windows.ts';
export { Tokenizer } from '../../core/tokens/tokenizer.ts';
export type { TokenizerData } from '../../core/tokens/tokenizer.ts';
export { fitTokenizer } from './text/fit-tokenizer.ts';
export type { TokenizerOptions } from './text/fit-tokenizer.ts';
export { textDataset } from './text/text-dataset.ts';
export type { TextOptions } from './text/text-dataset.ts';
