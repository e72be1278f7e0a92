import { it } from 'vitest';
import { setUpTensorflow } from '../native-tensorflow.ts';
import { describeGolden } from './describe-golden.ts';

const obstacle = await setUpTensorflow();
if (obstacle === null) describeGolden('tensorflow');
else it.skip(`TensorFlow's losses: not run, as ${obstacle}`);
