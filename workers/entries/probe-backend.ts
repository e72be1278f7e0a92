import { type Blas, type ProbeReply, type ProbeTask, probeTaskSchema } from '../../core/protocol/machine/devices.ts';
import { denseLayerProducts, measureProducts } from '../backends/blas/products.ts';
import { loadBlas } from '../backends/blas/system-blas.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of a short process that tries a backend or a system's BLAS, and measures its speed. Started by
 * `src-main/backends/blas-survey.ts`, which sends the task. Kernels for another processor end the process.
 */

const denseLayer = { batch: 128, inputs: 3072, units: 512 };
/** A small layer for the reference backend, which would take half a minute for the other one. */
const smallLayer = { batch: 32, inputs: 256, units: 256 };

async function probe(task: ProbeTask): Promise<ProbeReply> {
  try {
    return { kind: 'measured', ...(task.kind === 'blas' ? await probeBlas(task.blas) : await probeBackend(task)) };
  } catch (error) {
    return { kind: 'unusable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Without TensorFlow.js, which takes longer to start than a BLAS to measure. */
async function probeBlas(blas: Blas): Promise<{ description: string; gflops: number }> {
  const { description, sgemm, addressOf } = await loadBlas(blas);
  const gflops = await measureProducts(denseLayerProducts(denseLayer), ({ m, k, n, transposeA, transposeB }) => {
    const operands = [m * k, k * n, m * n].map((length) => new Float32Array(length).fill(1));
    const [a, b, c] = operands.map(({ buffer }) => addressOf(buffer));
    return () => sgemm(transposeA, transposeB, m, n, k, a, transposeA ? m : k, b, transposeB ? k : n, 0, c, n);
  });
  return { description, gflops };
}

async function probeBackend({ backend, blas }: ProbeTask & { kind: 'backend' }) {
  const [{ startBackend }, { tf }] = await Promise.all([
    import('../backends/backend.ts'),
    import('../tensorflow/tf.ts'),
  ]);
  const { description } = await startBackend(backend, { blas });
  const layer = backend === 'cpu' ? smallLayer : denseLayer;
  const gflops = await measureProducts(denseLayerProducts(layer), ({ m, k, n, transposeA, transposeB }) => {
    const a = tf.ones(transposeA ? [k, m] : [m, k]);
    const b = tf.ones(transposeB ? [n, k] : [k, n]);
    return async () => {
      const product = tf.matMul(a, b, transposeA, transposeB);
      // A GPU has finished only when a part of the result can be read.
      const first = product.slice([0, 0], [1, 1]);
      await first.data();
      tf.dispose([product, first]);
    };
  });
  return { description, gflops };
}

replyToHub(await probe(probeTaskSchema.parse(await questionOfHub())));
