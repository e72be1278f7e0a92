import { setUpTensorflow } from '../backends/native-tensorflow.ts';
import { describeGolden } from './describe-golden.ts';

describeGolden('tensorflow', await setUpTensorflow());
