import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Controls } from './controls.ts';

/**
 * Has ranks that exchange at every step act on what one of them learns at the same step: else one would stop while another waits for
 * its gradients. ControlSignals ride on the step's own collectives; what came back with those called before a step takes effect after it.
 * That is up to a step late, and the same on all ranks also when a collective is still under way.
 */
export class Lockstep {
  /** Whether some rank's training must not go on. */
  mustHalt = false;
  private readonly group: ProcessGroup;
  private readonly controls: Controls;

  constructor(group: ProcessGroup, controls: Controls) {
    this.group = group;
    this.controls = controls;
    controls.holdBack();
  }

  /** Called before a step. @param halt whether this rank's training must not go on */
  begin(halt: boolean): void {
    this.group.signals = { controls: this.controls.received, halt };
    this.group.mark();
  }

  /** Called after a step: lets in what all ranks let in now. */
  async end(): Promise<void> {
    const { controls, halt } = await this.group.agreed();
    this.mustHalt = halt;
    await this.controls.admit(controls);
  }
}
