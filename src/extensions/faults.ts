/** An error for the author of an extension, in the words of the kit; its stack has the line of the author's file. */
export class AuthorError extends TypeError {}

export function fault(message: string): AuthorError {
  return new AuthorError(message);
}

/** Says of a value that an extension gave what it is. Strings are left out, since they may be secret. */
export function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || value === undefined) return String(value);
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
