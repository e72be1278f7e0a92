import { describeStacks } from '../../unit/stacked/describe-stacks.ts';
import { useTensorflow } from '../../environment/tensorflow.ts';

describeStacks('tensorflow', useTensorflow());
