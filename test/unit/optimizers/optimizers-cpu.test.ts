import { describeOptimizers } from './describe-optimizers.ts';

describeOptimizers('cpu');
