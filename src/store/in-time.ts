import { type Clock, within } from '../lib/clock.ts';
import { RecordsUnavailableError } from './refusals.ts';

/** The longest wait of a client: while a disk or a replica of Redis hangs, requests queue. */
export const PATIENCE_MS = 5_000;
export const TOO_LATE = 'the order records take too long to answer';

/** Throws a RecordsUnavailableError if the answer takes too long. */
export async function inTime<Answer>(clock: Clock, request: Promise<Answer>): Promise<Answer> {
  const answered = request.then((answer) => ({ answer }));
  const result = await within(clock, PATIENCE_MS, answered);
  if (result === null) throw new RecordsUnavailableError(TOO_LATE);
  return result.answer;
}
