import { describePipeline } from './describe-pipeline.ts';

describePipeline('wasm');
