import { describeStacks } from '../unit/stacked/describe-stacks.ts';
import { setUpTensorflow } from './native-tensorflow.ts';

describeStacks('tensorflow', await setUpTensorflow());
