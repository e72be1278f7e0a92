import { describePipeline } from './describe-pipeline.ts';

describePipeline('cpu');
