/** The message of a caught value; a value that is no `Error` as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
