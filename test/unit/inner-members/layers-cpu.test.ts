import { describeInnerLayers } from './describe-inner-layers.ts';

describeInnerLayers('cpu');
