/** Where a rank of M pipelined members with S stages each has its place. */
export interface PipelinePlace {
  /** From 0 to M − 1. */
  member: number;
  /** From 0 to S − 1. */
  stage: number;
  /** The ranks of this member, by stage; shape `[S]`. */
  ofMember: readonly number[];
  /** The ranks with this stage, by member; shape `[M]`. */
  ofStage: readonly number[];
}

/**
 * The place of a rank: rank = stage · M + member. So ranks 0 to M − 1 hold the first stages and keep what their members keep, as in any ensemble of M.
 * @throws RangeError if the ranks are not a multiple of the stages
 */
export function pipelinePlace(rank: number, ranks: number, stages: number): PipelinePlace {
  const members = ranks / stages;
  if (!Number.isInteger(members))
    throw new RangeError(`${ranks} ranks do not divide into members of ${stages} stages.`);
  const member = rank % members;
  const stage = Math.floor(rank / members);
  return {
    member,
    stage,
    ofMember: Array.from({ length: stages }, (_, other) => other * members + member),
    ofStage: Array.from({ length: members }, (_, other) => stage * members + other),
  };
}
