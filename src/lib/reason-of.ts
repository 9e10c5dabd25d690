/** The message of a failure on one line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error);
}
