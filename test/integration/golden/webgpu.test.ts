import { setUpSwiftShader } from '../backends/swiftshader.ts';
import { describeGolden } from './describe-golden.ts';

describeGolden('webgpu', await setUpSwiftShader(), 6);
