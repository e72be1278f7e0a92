import { describeStacks } from '../../unit/stacked/describe-stacks.ts';
import { setUpTensorflow } from '../backends/native-tensorflow.ts';

describeStacks('tensorflow', await setUpTensorflow());
