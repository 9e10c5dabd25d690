import { isDeepStrictEqual } from 'node:util';

/** Says what holds, and ends the trial with what does not. */
export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the image does not do what it should: ${what}`);
  process.stderr.write(`${what}\n`);
}

/** The same for values, whose difference a reader needs to see. */
export function expectEqual(found: unknown, wanted: unknown, what: string): void {
  const holds = isDeepStrictEqual(found, wanted);
  const difference = `${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}`;
  expect(holds, holds ? what : `${what}: ${difference}`);
}
