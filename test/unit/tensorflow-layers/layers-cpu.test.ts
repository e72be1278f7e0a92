import { describeLayers } from './describe-layers.ts';

describeLayers('cpu');
