import { messageOf } from '../../../core/text/errors.ts';
import { excerptOf } from './excerpt.ts';
import { describePlace, projectPlace } from './project-place.ts';

/** Where a project's code raised an error. */
export interface ErrorSource {
  /** `project.ts:31:12`, with line and column. */
  source?: string;
  /** The lines there, with a caret. */
  excerpt?: string;
}

/** A stack of TensorFlow.js can be deeper than the 10 frames that V8 keeps, and the project's frames are its last ones. */
const keptFrames = 60;

/** From now on stacks reach from the kernels to the project's code. */
export function keepDeepStacks(): void {
  Error.stackTraceLimit = keptFrames;
}

/**
 * Where the project raised an error or one of its causes, innermost first, because Tutti's own errors wrap those of projects. Empty if the project
 * did not raise it.
 */
export function sourceOf(error: unknown, projectFolder: string): ErrorSource {
  for (const { stack = '' } of causesOf(error).toReversed()) {
    const place = projectPlace(stack, projectFolder);
    if (place === null) continue;
    const excerpt = excerptOf(place, projectFolder);
    return { source: describePlace(place), ...(excerpt === null ? {} : { excerpt }) };
  }
  return {};
}

/** The error's message, followed by the place in the project's code that raised it, and its lines. */
export function explainError(error: unknown, projectFolder: string): string {
  const { source, excerpt } = sourceOf(error, projectFolder);
  return [
    messageOf(error),
    ...(source === undefined ? [] : [`at ${source}`]),
    ...(excerpt === undefined ? [] : [excerpt]),
  ].join('\n');
}

/** The stacks of an error and its causes, for logs. */
export function stackOf(error: unknown): string {
  const causes = causesOf(error);
  if (causes.length === 0) return String(error);
  return causes.map(({ stack, message }) => stack ?? message).join('\ncaused by: ');
}

/** The error and the errors that caused it, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && !causes.includes(cause); cause = cause.cause) causes.push(cause);
  return causes;
}
