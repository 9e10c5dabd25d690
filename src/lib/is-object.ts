/** Whether a value that came from outside is an object with members, as those of JSON; a list is none. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
