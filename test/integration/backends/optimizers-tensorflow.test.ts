import { setUpTensorflow } from './native-tensorflow.ts';
import { describeGolden } from '../../unit/optimizers/describe-optimizers.ts';

describeGolden('tensorflow', await setUpTensorflow());
