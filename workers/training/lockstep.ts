import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Controls } from './controls.ts';

/**
 * Makes ranks that exchange at every step act on a control at the same step. Otherwise one rank would stop while another waits
 * for its gradients. Signals travel with the collectives of a step. Those of the collectives before a step take effect after
 * it: up to a step late, but at the same step on all ranks, even while a collective is pending.
 */
export class Lockstep {
  /** Whether some rank's training must end. */
  mustHalt = false;
  private readonly group: ProcessGroup;
  private readonly controls: Controls;

  constructor(group: ProcessGroup, controls: Controls) {
    this.group = group;
    this.controls = controls;
    controls.holdBack();
  }

  /** Call it before a step. @param halt whether this rank's training must end */
  begin(halt: boolean): void {
    this.group.signals = { controls: this.controls.received, halt };
    this.group.mark();
  }

  /** Call it after a step: admits the controls that all ranks admit now. */
  async end(): Promise<void> {
    const { controls, halt } = await this.group.agreed();
    this.mustHalt = halt;
    await this.controls.admit(controls);
  }
}
