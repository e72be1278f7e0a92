import { setUpSwiftShader } from './swiftshader.ts';
import { describeGolden } from '../../unit/optimizers/describe-optimizers.ts';

describeGolden('webgpu', await setUpSwiftShader(), 6);
