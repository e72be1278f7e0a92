export { detectDevices } from './detect.ts';
export type { Detected } from './detected.ts';
export { describePlan, planPlacement } from './plan.ts';
export { selectDevices } from './selection.ts';
