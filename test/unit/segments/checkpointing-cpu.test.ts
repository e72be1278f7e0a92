import { describeCheckpointing } from './describe-checkpointing.ts';

describeCheckpointing('cpu');
