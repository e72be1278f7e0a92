import { useTensorflow } from '../../environment/tensorflow.ts';
import { describeOptimizers } from '../../unit/optimizers/describe-optimizers.ts';

describeOptimizers('tensorflow', useTensorflow());
