import { describeJoint } from './describe-joint.ts';

describeJoint('cpu');
