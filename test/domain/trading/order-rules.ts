import { leavesDoubt } from '../../../src/domain/trading/order-errors.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import { GatewayError } from '../../../src/gateway/gateway-error.ts';
import { InputError } from '../../../src/lib/public-error.ts';
import {
  isClosed,
  type OrderRecord,
  type RecordedOutcome,
} from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import type { Answer, Call, ClientRequest, KeyHistory } from './order-world.ts';

const UNCLEAR: ReadonlySet<Answer> = new Set(['accepted', 'failed']);

/** Returns the rules that the history of a key breaks. `final` is its record at the end. */
export function brokenRules(given: KeyHistory, final: OrderRecord | null): readonly string[] {
  // The record of a rejected order may be removed to make room. A late refusal is recorded as a rejection.
  const mayBeRejected = given.calls.some(({ answer }) => answer !== null && !UNCLEAR.has(answer));
  const traded = given.calls.filter(mayHaveTraded);
  const isRejected = mayBeRejected && traded.every(({ answer }) => answer === 'rejected');
  const history = { ...given, isForgettable: given.isForgettable || isRejected };
  return [
    ...brokenByCalls(history, final),
    ...brokenByOutcomes(history, final),
    ...brokenByLaterAnswers(history, final),
    ...brokenByErrors(history),
  ].map((rule) => `${history.account} ${history.name}: ${rule}`);
}

/** Calls that end as `rate limited` or `forbidden` have certainly not traded. They free the key. */
function mayHaveTraded({ sentAt, answer }: Call): boolean {
  return sentAt !== null && answer !== 'rate limited' && answer !== 'forbidden';
}

/** An order that may have traded is the last one sent with its key, and its record is kept. */
function* brokenByCalls(
  { calls, isForgettable }: KeyHistory,
  final: OrderRecord | null,
): Generator<string> {
  const sent = calls.filter(({ sentAt }) => sentAt !== null);
  const traded = sent.filter(mayHaveTraded);
  if (traded.length > 1) yield 'sent twice, though it may have been carried out';
  if (traded[0] && sent.at(-1) !== traded[0]) yield 'sent after it may have been carried out';
  if (traded.length === 0 || isForgettable) return;
  if (final === null) yield 'sent, and forgotten';
  else if (isClosed(final)) yield 'sent, and voided';
}

/** All clients receive one outcome, and it is what happened at the gateway. */
function* brokenByOutcomes(
  { requests, calls, isForgettable }: KeyHistory,
  final: OrderRecord | null,
): Generator<string> {
  const traded = calls.filter(mayHaveTraded);
  const isAcceptedByGateway = traded.some(({ answer }) => answer === 'accepted');
  const results = requests.map(({ result }) => result).filter(isOrderResult);
  const outcomes = results.map(({ outcome }) => outcome);
  if (final?.outcome && !isClosed(final)) outcomes.push(final.outcome);
  const known = new Set(outcomes.map(nameOf).filter((name) => name !== 'unknown'));
  // A process may answer and be killed before it writes. An operator may then settle the order as not traded.
  const isSettled = known.delete('SETTLED');
  if (known.size > 1) yield `answered as ${[...known].join(' and ')}`;
  // The record of a void may be lost. An operator may then settle the key as unsent.
  const isVoidKept = known.has('VOIDED') && !isForgettable;
  if (isSettled && (known.has('accepted') || isVoidKept)) yield 'settled as another outcome';
  if (known.has('accepted') && traded[0]?.answer !== 'accepted')
    yield 'accepted, and not at the gateway';
  if (known.has('rejected') && isAcceptedByGateway) yield 'rejected, and at the gateway';
  const isUnsent = known.has('VOIDED') || known.has('EXPIRED');
  if (isUnsent && traded.length > 0) yield 'unsent, and yet sent';
  if (requests.some(({ kind, result }) => kind === 'void' && result === null))
    yield 'a void answered nothing';
  const first = results.filter(
    ({ replayed, outcome }) => !replayed && nameOf(outcome) !== 'VOIDED',
  );
  if (first.length > 1) yield 'answered as new twice';
  if (outcomes.length > 0 && final === null && !isForgettable)
    yield 'had an outcome, and is forgotten';
}

/** A process that has answered an outcome never forgets it, and the outcome is on record once it is written. */
function* brokenByLaterAnswers(
  { requests, isForgettable }: KeyHistory,
  final: OrderRecord | null,
): Generator<string> {
  const known = requests.filter(
    ({ result }) => isOrderResult(result) && result.outcome.kind !== 'unknown',
  );
  // An older copy of the records may bring an order back whose key was freed, and then used for another.
  if (isForgettable) return;
  const placed = known.filter(({ kind, result }) => kind === 'place' && !isVoided(result));
  if (new Set(placed.map(({ symbol }) => symbol)).size > 1) yield 'one key answered for two orders';
  for (const earlier of known) {
    if (earlier.wasWritten && final?.outcome?.kind === 'unknown')
      yield 'known, and unknown on record';
    const later = requests.filter((each) => isLaterInProcess(each, earlier));
    if (later.some(({ result }) => result === null || isUnknown(result)))
      yield 'known, and unknown to a later request';
  }
}

/** Whether the request began after the end of the earlier one, in the same process since the same start. */
function isLaterInProcess(request: ClientRequest, earlier: ClientRequest): boolean {
  const { process, generation, startedAt } = request;
  if (process !== earlier.process || generation !== earlier.generation) return false;
  return startedAt > Number(earlier.endedAt);
}

/** After an order was sent, no later error may say that nothing was sent, and the order's record must be found. */
function* brokenByErrors({ requests, calls, isForgettable }: KeyHistory): Generator<string> {
  for (const { kind, result, startedAt } of requests) {
    if (result === undefined || isOrderResult(result)) continue;
    if (result instanceof InputError && !isAhead(result)) {
      if (result.argument === 'input.idempotencyKey' && !hasTwoOrders(requests))
        yield 'refused as a different order, though only one was placed';
      continue;
    }
    if (result !== null && !isExpected(result)) yield `ended in ${result.stack}`;
    const mayBeForgotten = result === null && isForgettable;
    // The desk makes each error of a void one that leaves doubt.
    const saysNotSent = result === null || !(kind === 'void' || leavesDoubt(result));
    const wasSent = calls.some((call) => mayHaveTraded(call) && Number(call.sentAt) < startedAt);
    if (saysNotSent && wasSent && !mayBeForgotten)
      yield `answered that no order was sent, though one was: ${result}`;
  }
}

/** Whether different orders were placed with the key. */
function hasTwoOrders(requests: readonly ClientRequest[]): boolean {
  const placed = requests.filter(({ kind }) => kind === 'place');
  return new Set(placed.map(({ symbol }) => symbol)).size > 1;
}

function isExpected(error: Error): boolean {
  if (isAhead(error)) return true;
  return error instanceof RecordsUnavailableError || error instanceof GatewayError;
}

/** Whether a key without a record is refused because its time is ahead. */
function isAhead(error: Error): boolean {
  return error instanceof InputError && error.message.includes('ahead');
}

function isOrderResult(result: ClientRequest['result']): result is OrderResult {
  return result !== null && result !== undefined && !(result instanceof Error);
}

function isUnknown(result: ClientRequest['result']): boolean {
  return isOrderResult(result) && result.outcome.kind === 'unknown';
}

function isVoided(result: ClientRequest['result']): boolean {
  return isOrderResult(result) && nameOf(result.outcome) === 'VOIDED';
}

/** The kind of the outcome, or the reason why nothing was sent. */
function nameOf(outcome: RecordedOutcome): string {
  return outcome.kind === 'rejected' && outcome.sent === false ? outcome.error : outcome.kind;
}
