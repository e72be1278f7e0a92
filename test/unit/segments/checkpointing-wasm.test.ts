import { describeCheckpointing } from './describe-checkpointing.ts';

describeCheckpointing('wasm');
