import { describeOptimizers } from './describe-optimizers.ts';

describeOptimizers('wasm');
