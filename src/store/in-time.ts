import { type Clock, within } from '../lib/clock.ts';
import { RecordsUnavailableError } from './order-records.ts';

/** While a disk or a replica of Redis hangs, requests queue, and a client must not wait for all of them. */
export const PATIENCE_MS = 5_000;
export const TOO_LATE = 'the order records take too long to answer';

/** Throws a RecordsUnavailableError if the answer takes too long. */
export async function inTime<Answer>(clock: Clock, asked: Promise<Answer>): Promise<Answer> {
  const answered = asked.then((answer) => ({ answer }));
  const timely = await within(clock, PATIENCE_MS, answered);
  if (timely === null) throw new RecordsUnavailableError(TOO_LATE);
  return timely.answer;
}
