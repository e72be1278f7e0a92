import { describeDataParallel } from './describe-data-parallel.ts';

describeDataParallel('wasm');
