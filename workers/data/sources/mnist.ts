import { createDataset, createSplits } from '../dataset.ts';
import type { Dataset, Splits } from '../dataset.ts';
import type { RemoteFile } from './download.ts';
import { readIdx } from './idx.ts';
import { obtainFile } from './locate.ts';
import type { DataSource } from './locate.ts';

/** The archive that torchvision downloads from, then TensorFlow's. */
const hosts = ['https://ossci-datasets.s3.amazonaws.com/mnist', 'https://storage.googleapis.com/cvdf-datasets/mnist'];

const remoteFiles = {
  train: {
    images: remoteFile(
      'train-images-idx3-ubyte.gz',
      9_912_422,
      '440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609',
    ),
    labels: remoteFile(
      'train-labels-idx1-ubyte.gz',
      28_881,
      '3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c',
    ),
  },
  t10k: {
    images: remoteFile(
      't10k-images-idx3-ubyte.gz',
      1_648_877,
      '8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6',
    ),
    labels: remoteFile(
      't10k-labels-idx1-ubyte.gz',
      4_542,
      'f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6',
    ),
  },
};

const classNames = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

export interface MnistOptions extends DataSource {
  /** `t10k`: only the 10,000 images of the test set, all in the training split, to be split by the project. */
  files?: 'all' | 't10k';
}

/**
 * Loads MNIST: handwritten digits in 10 classes, features uint8 `[N, 28, 28, 1]`, normalized by the training set's mean
 * 0.1307 and standard deviation 0.3081; 60,000 training and 10,000 test images. Source: LeCun, Cortes and Burges.
 *
 * @param options - folders, downloads, and which files to use
 * @throws Error when a file is damaged, or absent and cannot be downloaded
 */
export async function mnist({ files = 'all', ...source }: MnistOptions): Promise<Splits> {
  if (files === 't10k') return createSplits({ train: await readPart('MNIST t10k', remoteFiles.t10k, source) });
  const train = await readPart('MNIST', remoteFiles.train, source);
  return createSplits({ train, test: await readPart('MNIST test', remoteFiles.t10k, source) });
}

async function readPart(
  name: string,
  files: { images: RemoteFile; labels: RemoteFile },
  source: DataSource,
): Promise<Dataset> {
  const imagesFile = await obtainFile(files.images, 'mnist', source);
  const labelsFile = await obtainFile(files.labels, 'mnist', source);
  const images = await readIdx(imagesFile, 3);
  const labels = await readIdx(labelsFile, 1);
  const [imageCount, ...imageShape] = images.shape;
  if (imageCount !== labels.values.length) {
    throw new Error(
      `${imagesFile} holds ${imageCount} images, ${labelsFile} ${labels.values.length} labels: they do not belong ` +
        'together. Replace them by a pair that does.',
    );
  }
  return createDataset({
    name,
    featureShape: [...imageShape, 1],
    features: images.values,
    targets: Int32Array.from(labels.values),
    classNames,
    normalization: { mean: [0.1307], std: [0.3081] },
  });
}

function remoteFile(name: string, bytes: number, sha256: string): RemoteFile {
  return { name, bytes, sha256, urls: hosts.map((host) => `${host}/${name}`) };
}
