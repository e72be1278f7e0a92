import type { Batch } from '../data/dataset.ts';
import type { StepOutcome, Strategy, StrategyEvent } from '../strategies/strategy.ts';
import type { LossFunction, Member, StepPosition } from '../member/member.ts';
import type { UpdateRule, UpdateSettings } from '../optimizers/optimizers.ts';
import type { Draw } from './stacked-kinds.ts';
import { layersByMember } from './stacked-layers.ts';
import { StackedMembers, type StackedTraining, type StepInput } from './stacked-members.ts';
import type { LayersModel } from '../tensorflow/tf.ts';

interface PendingStep {
  input: StepInput;
  resolve: (outcome: StepOutcome) => void;
  reject: (error: unknown) => void;
}

/** What the ranks of one run in a stack have in common, where it holds several runs. */
export interface StackedRun {
  rule: UpdateRule;
  loss: LossFunction;
}

/** A rank of a stack. */
interface Place {
  draw: Draw;
  /** Null where the stack holds one run. */
  run: StackedRun | null;
  member: Member | null;
  /**
   * `resting` from the end of its steps in a round until all have ended theirs; `away` while its run is paused and
   * others go on; `left` once it has trained.
   */
  phase: 'training' | 'resting' | 'away' | 'left';
  pending: PendingStep | null;
}

/** The strategy of a rank whose steps are computed together with those of the other ranks of its process. */
export interface StackedStrategy extends Strategy {
  /** Call it when the rank has trained or failed: the others no longer wait for it. */
  leave(): void;
}

/**
 * Computes the steps of a process's ranks, each with a separate trainer, as one (`StackedMembers`), once all ranks that
 * still train have requested their next step. Losses, callbacks, checkpoints and stops remain separate.
 */
export class MemberStack {
  private readonly training: StackedTraining;
  private readonly places: Place[] = [];
  private stacked: { members: StackedMembers; places: readonly Place[] } | null = null;
  private isBusy = false;

  constructor(training: StackedTraining) {
    this.training = training;
  }

  /** Adds a rank. All ranks must be added before any trains. @param run null where all ranks are of one */
  join(draw: Draw, run: StackedRun | null = null): StackedStrategy {
    const place: Place = { draw, run, member: null, phase: 'training', pending: null };
    this.places.push(place);
    let events: StrategyEvent[] = [];
    return {
      name: 'independent',
      isLockstep: false,
      setup: async (member) => {
        place.member = member;
        events = this.places.length === 1 ? [] : [describeStack(member.model, this.places.length)];
      },
      trainStep: (_, batch, settings, position) => this.step(place, batch, settings, position),
      settle: async () => this.rest(place),
      collect: () => void this.unload(place, false),
      events: () => events.splice(0),
      pause: (isPaused) => this.pause(place, isPaused),
      leave: () => this.leave(place),
    };
  }

  private step(place: Place, batch: Batch, settings: UpdateSettings, position: StepPosition): Promise<StepOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<StepOutcome>();
    place.pending = { input: { batch, settings, position }, resolve, reject };
    void this.proceed();
    return promise;
  }

  /** Brings the rank's weights and optimizer up to date, for evaluation and saving. */
  private rest(place: Place): null {
    this.unload(place, true);
    place.phase = 'resting';
    if (this.places.every(({ phase }) => phase !== 'training')) {
      for (const other of this.places) if (other.phase === 'resting') other.phase = 'training';
    }
    void this.proceed();
    return null;
  }

  /** The ranks of one run pause together. Other runs do not wait for them. */
  private pause(place: Place, isPaused: boolean): void {
    if (place.run === null || place.phase === 'left') return;
    place.phase = isPaused ? 'away' : 'training';
    void this.proceed();
  }

  private leave(place: Place): void {
    if (place.phase === 'left') return;
    place.phase = 'left';
    if (this.places.every(({ phase }) => phase === 'left')) return this.stacked?.members.dispose();
    void this.proceed();
  }

  private unload(place: Place, withOptimizer: boolean): null {
    const { stacked } = this;
    if (stacked?.places.includes(place)) stacked.members.unload(memberOf(place), withOptimizer);
    return null;
  }

  /**
   * Computes the next step once all ranks have requested it. Never rejects: errors reject the requests for the step.
   */
  private async proceed(): Promise<void> {
    const training = this.places.filter(({ phase }) => phase === 'training');
    const ready = training.filter(({ pending }) => pending !== null);
    if (this.isBusy || ready.length === 0 || ready.length < training.length) return;
    this.isBusy = true;
    // Where samples are split unevenly, the last batches differ in size.
    for (const places of Map.groupBy(ready, ({ pending }) => pending?.input.batch.featureShape[0]).values()) {
      await this.stepTogether(places);
    }
    this.isBusy = false;
    void this.proceed();
  }

  private async stepTogether(places: readonly Place[]): Promise<void> {
    const steps = places.map(({ pending }) => pending).filter((pending) => pending !== null);
    try {
      const outcomes = await this.stackOf(places).step(steps.map(({ input }) => input));
      for (const place of places) place.pending = null;
      steps.forEach(({ resolve }, i) => resolve(outcomes[i]));
    } catch (error) {
      const runs = Map.groupBy(places, ({ run }) => run);
      // Only the run fails whose step does, so each makes its step by itself.
      if (runs.size > 1) {
        for (const own of runs.values()) await this.stepTogether(own);
        return;
      }
      for (const place of places) place.pending = null;
      for (const { reject } of steps) reject(error);
    }
  }

  /** The stack of exactly these ranks; rebuilt when one has ended before the others. */
  private stackOf(places: readonly Place[]): StackedMembers {
    const { stacked } = this;
    if (
      stacked !== null &&
      stacked.places.length === places.length &&
      places.every((p, i) => p === stacked.places[i])
    ) {
      return stacked.members;
    }
    for (const place of stacked?.places ?? []) stacked?.members.unload(memberOf(place), true);
    stacked?.members.dispose();
    const stackable = places.map((place) => {
      const { draw, run } = place;
      return { member: memberOf(place), draw, rule: run?.rule ?? this.training.rule, loss: run?.loss ?? null };
    });
    this.stacked = { members: new StackedMembers(stackable, this.training), places };
    return this.stacked.members;
  }
}

function memberOf({ member }: Place): Member {
  if (member === null) throw new Error('A rank cannot train in a stack before its strategy has been set up.');
  return member;
}

/** Reports how many members are computed as one, and which layers still run member by member. */
export function describeStack(model: LayersModel, members: number): StrategyEvent {
  const byMember = layersByMember(model);
  const exception = byMember.length === 0 ? '' : ` These layers run member by member: ${byMember.join(', ')}.`;
  return {
    kind: 'stacked',
    message: `${members} members of a worker are trained as one computation.${exception}`,
    data: { members, byMember },
    points: new Map(),
  };
}
