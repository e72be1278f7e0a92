import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { testWindows } from '../../unit/backends/definitions/test-windows.ts';
import { useTensorflow } from '../../environment/tensorflow.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = useTensorflow();

describe.skipIf(obstacle !== null)(
  `on TensorFlow, values and gradients equal those of loops in float64${notRun(obstacle)}`,
  () => {
    beforeAll(async () => void (await startBackend('tensorflow')));

    testWindows({ numRuns: 40, padsExplicitly: false });
  },
);
