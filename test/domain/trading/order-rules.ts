import { leavesDoubt } from '../../../src/domain/trading/order-errors.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { InputError } from '../../../src/lib/input-error.ts';
import {
  closingOf,
  type OrderRecord,
  type RecordedOutcome,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import type { Asked, Call, Story } from './order-world.ts';

/** Returns the rules that a story breaks. `final` is the record at its end. */
export function contradictionsIn(story: Story, final: OrderRecord | null): readonly string[] {
  return [
    ...sending(story, final),
    ...answers(story, final),
    ...later(story, final),
    ...refusals(story),
  ].map((rule) => `${story.account} ${story.key}: ${rule}`);
}

/** Calls that end as `paused` or `denied` have certainly not traded. They free the key. */
function mayHaveTraded({ sentAt, as }: Call): boolean {
  return sentAt !== null && as !== 'paused' && as !== 'denied';
}

function* sending({ calls, isForgettable }: Story, final: OrderRecord | null): Generator<string> {
  const sent = calls.filter(({ sentAt }) => sentAt !== null);
  const traded = sent.filter(mayHaveTraded);
  if (traded.length > 1) yield 'sent twice, though it may have been carried out';
  if (traded[0] && sent.at(-1) !== traded[0]) yield 'sent after it may have been carried out';
  if (traded.length === 0 || isForgettable) return;
  if (final === null) yield 'sent, and forgotten';
  else if (closingOf(final) !== null) yield 'sent, and closed';
}

function* answers(
  { asked, calls, isForgettable }: Story,
  final: OrderRecord | null,
): Generator<string> {
  const traded = calls.filter(mayHaveTraded);
  const results = asked.map(({ result }) => result).filter(isOutcome);
  const words = results
    .filter(({ earlierUnknown }) => !earlierUnknown)
    .map(({ outcome }) => outcome);
  if (final?.outcome && closingOf(final) === null) words.push(final.outcome);
  const known = new Set(words.map(wordOf).filter((word) => word !== 'unknown'));
  // A process may answer and be killed before it writes. An operator may then settle the order as not traded.
  const isSettled = known.delete('SETTLED');
  if (known.size > 1) yield `answered as ${[...known].join(' and ')}`;
  // The record of a void may be lost. An operator may then settle the key as unsent.
  if (isSettled && (known.has('accepted') || (known.has('VOIDED') && !isForgettable)))
    yield 'settled as another outcome';
  if (known.has('accepted') && traded[0]?.as !== 'accepted')
    yield 'accepted, and not at the gateway';
  if (known.has('rejected') && traded.some(({ as }) => as === 'accepted'))
    yield 'rejected, and at the gateway';
  if ((known.has('VOIDED') || known.has('EXPIRED')) && traded.length > 0)
    yield 'unsent, and yet sent';
  if (asked.some((each) => each.do === 'void' && each.result === null))
    yield 'a void answered nothing';
  const first = results.filter(
    ({ replayed, outcome }) => !replayed && wordOf(outcome) !== 'VOIDED',
  );
  if (first.length > 1) yield 'answered as new twice';
  if (words.length > 0 && final === null && !isForgettable)
    yield 'had an outcome, and is forgotten';
}

/** A process that has answered an outcome never forgets it, and the outcome is on record once it is written. */
function* later({ asked, isForgettable }: Story, final: OrderRecord | null): Generator<string> {
  const known = asked.filter(
    ({ result }) => isOutcome(result) && result.outcome.kind !== 'unknown',
  );
  const placed = known.filter((each) => each.do === 'place' && !isClosed(each.result));
  if (new Set(placed.map(({ symbol }) => symbol)).size > 1) yield 'one key answered for two orders';
  if (isForgettable) return;
  for (const { wasWritten, process, generation, endedAt } of known) {
    if (wasWritten && final?.outcome?.kind === 'unknown') yield 'known, and unknown on record';
    const doubted = asked.some(
      ({ result, beganAt, ...of }) =>
        of.process === process &&
        of.generation === generation &&
        beganAt > Number(endedAt) &&
        (result === null || (isOutcome(result) && result.outcome.kind === 'unknown')),
    );
    if (doubted) yield 'known, and unknown to a later request';
  }
}

function isClosed(result: Asked['result']): boolean {
  return isOutcome(result) && wordOf(result.outcome) === 'VOIDED';
}

/** After an order was sent, a later error must not say that it was not, and its record must be found. */
function* refusals({ asked, calls, isForgettable }: Story): Generator<string> {
  for (const each of asked) {
    const { result, beganAt } = each;
    if (result === undefined || isOutcome(result)) continue;
    if (result instanceof InputError) {
      if (result.argument === 'input.idempotencyKey' && !hasTwoOrders(asked))
        yield 'refused as a different order, though only one was placed';
      continue;
    }
    if (result !== null && !isAllowed(result)) yield `ended in ${result.stack}`;
    const saysNone = result === null || !leavesDoubt(result);
    const before = calls.some((call) => mayHaveTraded(call) && Number(call.sentAt) < beganAt);
    if (saysNone && before && !(result === null && isForgettable))
      yield `answered that no order was sent, though one was: ${result}`;
  }
}

/** Whether different orders were placed with the key. */
function hasTwoOrders(asked: readonly Asked[]): boolean {
  return new Set(asked.filter((each) => each.do === 'place').map(({ symbol }) => symbol)).size > 1;
}

function isAllowed(error: Error): boolean {
  return error instanceof RecordsUnavailableError || error instanceof GatewayError;
}

function isOutcome(result: Asked['result']): result is OrderResult {
  return result !== null && result !== undefined && !(result instanceof Error);
}

function wordOf(outcome: RecordedOutcome): string {
  return outcome.kind === 'rejected' && outcome.sent === false ? outcome.error : outcome.kind;
}
