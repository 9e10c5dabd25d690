import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { ExecutionResult, ValidatedExecutionArgs } from 'graphql';
import { beforeEach, expect, test, vi } from 'vitest';
import { ClientLimits } from '../../../src/engine/admission/client-limits.ts';
import type { Operation } from '../../../src/engine/admission/operation.ts';
import { ErrorMasking } from '../../../src/engine/core/error-masking.ts';
import type { Meter } from '../../../src/engine/core/meter.ts';
import type { PreparedOperation } from '../../../src/engine/documents/documents.ts';
import { follow } from '../../../src/engine/execution/subscriptions.ts';
import { EventIterator } from '../../../src/lib/event-iterator.ts';
import { singleClient } from '../../../src/lib/limits/request-caller.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { argsOf, executorOf } from '../documents/compiler/both-executors.ts';
import { factsIn, schemaOf } from '../schema-of.ts';

const schema = schemaOf(
  `type Query { nothing: Int }
  type Subscription { live(every: Int): Event }
  type Event { rows: [Row!]! failing: Int }
  type Row { price: Float }`,
  { 'Event.failing': { resolve: fail } },
);

function fail(): never {
  throw new Error('this one fails');
}

/** How often an event was executed. */
let executed = 0;
let parts: Parameters<typeof follow>[0];

beforeEach(() => {
  executed = 0;
  parts = partsFor(1_000_000);
});

const client = singleClient('account', '1');

/** The parts of subscriptions whose clients are limited to this many fields in a minute. */
function partsFor(fieldsPerMinute: number): typeof parts {
  const limiter = createTestLimiter(limited('fields', fieldsPerMinute), createScriptedClock());
  const masking = new ErrorMasking({
    log: createLog({ level: 'fatal', destination: { write: () => {} } }),
    metrics: { error() {}, refusal() {} },
    describe: () => ({ message: 'masked', extensions: {} }),
  });
  return {
    masking,
    receipts: false,
    limits: new ClientLimits(limiter),
    maxCost: 1_000,
    watchToken: () => () => {},
  };
}

/** Prepares a document. Several subscribers share it, as if they had sent the same text. */
function prepare(text: string) {
  const executor = executorOf(argsOf(schema, text, { variableValues: { yes: true } }));
  const execute = (args: ValidatedExecutionArgs, meter: Meter) => {
    executed += 1;
    return executor.execute(args, meter);
  };
  const prepared = { ...factsIn(schema, text), executor: { execute } };
  return { text, prepared: prepared as unknown as PreparedOperation };
}

type Document = ReturnType<typeof prepare>;

/** A document whose events are executed by the given function. */
function preparedBy(execute: () => ExecutionResult | Promise<ExecutionResult>): Document {
  const document = prepare('subscription { live { rows { price } } }');
  return { ...document, prepared: { ...document.prepared, executor: { execute } } as never };
}

/** A subscriber, which gets a result for each `next`. */
function subscribe({ text, prepared }: Document, signal?: AbortSignal) {
  let newest: object | undefined;
  const missed = vi.fn();
  const closed = vi.fn();
  const ended = vi.fn();
  const events = new EventIterator<object>({
    open: () => {},
    // Returns only the newest event, like a feed.
    take: () => {
      const event = newest;
      newest = undefined;
      return event;
    },
    missed,
    close: closed,
  });
  const operation = {
    prepared,
    args: argsOf(schema, text),
    facts: prepared.facts.for({}, () => 0),
    caller: { token: null, signal, tokenStatus: { provedClient: client, isAccepted: true } },
    transport: { summary: { requestId: 'r', failed() {} } },
  } as unknown as Operation;
  const newContext = () => ({ receipt: () => ({}) });
  const live = follow(parts, { operation, events, newContext, ended });
  return {
    events,
    live,
    missed,
    closed,
    ended,
    next: async () => JSON.parse(JSON.stringify((await live.next()).value ?? null)),
    emit(event: object) {
      newest = event;
      events.wake();
    },
  };
}

const priceDocument = prepare('subscription { live { rows { price } } }');
const priceData = (price: number) => ({ live: { rows: [{ price }] } });
const MASKED = { errors: [{ message: 'masked' }] };
const MANY = { live: { rows: Array.from({ length: 200 }, (_, price) => ({ price })) } };

test('a feed is notified if its event’s changes could not be sent to a reader', async () => {
  // A result without data contains no changes.
  const failing = preparedBy(() => ({ data: null, errors: [] }));
  const [sending, notSending] = [subscribe(priceDocument), subscribe(failing)];
  for (const { emit, next } of [sending, notSending]) {
    emit(priceData(1));
    await next();
  }
  expect(sending.missed).not.toHaveBeenCalled();
  expect(notSending.missed).toHaveBeenCalledOnce();
});

test('each reader is charged for the fields of its events, until an error replaces an event', async () => {
  const fields = 2 + 200;
  parts = partsFor(fields * 5);
  const { signal } = new AbortController();
  const { emit, next } = subscribe(priceDocument, signal);
  // Five events use up the limit. The sixth is still sent, because the client is not over its limit yet.
  for (let event = 0; event < 6; event += 1) {
    emit(MANY);
    expect((await next()).errors).toBeUndefined();
  }
  emit(MANY);
  expect(await next()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
  expect(await next()).toBeNull();
  // The results have ended, and no longer listen to the signal.
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('no result is made before its reader asks, and the events until then are one', async () => {
  const { emit, next } = subscribe(priceDocument);
  emit(priceData(1));
  emit(priceData(2));
  expect(executed).toBe(0);
  expect(await next()).toEqual({ data: priceData(2) });
  const waiting = next();
  emit(priceData(3));
  expect(await waiting).toEqual({ data: priceData(3) });
});

test('the error of the end is the last result, for a reader that waits and for one that asks later', async () => {
  const [waiting, later] = [subscribe(priceDocument), subscribe(priceDocument)];
  const last = waiting.next();
  for (const { events } of [waiting, later]) events.end(new Error('over'));
  expect([await last, await later.next()]).toEqual([MASKED, MASKED]);
  expect([await waiting.next(), await later.next()]).toEqual([null, null]);
  for (const { ended } of [waiting, later]) expect(ended).toHaveBeenCalledOnce();
});

test.each([
  ['the reader leaves', ({ live }: ReturnType<typeof subscribe>) => void live.return()],
  ['the client disconnects', (_: unknown, client: AbortController) => client.abort()],
])('when %s, a result that it waits for ends at once', async (_what, leave) => {
  const disconnecting = new AbortController();
  const subscriber = subscribe(priceDocument, disconnecting.signal);
  const waiting = subscriber.next();
  leave(subscriber, disconnecting);
  expect([await waiting, await subscriber.next()]).toEqual([null, null]);
  expect(subscriber.closed).toHaveBeenCalledOnce();
});

test.each([fail, async () => fail()])(
  'if the execution of an event throws, the subscription ends with that error: %s',
  async (execute) => {
    const { closed, emit, next } = subscribe(preparedBy(execute));
    emit(priceData(1));
    expect([await next(), await next()]).toEqual([MASKED, null]);
    expect(closed).toHaveBeenCalledOnce();
  },
);

test.each([
  ['has disconnected receives nothing', null, [null]],
  ['has lost its token receives only the error', new Error('over'), [MASKED, null]],
])('a client that %s, even with a result in progress', async (_what, error, expected) => {
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const { closed, emit, events, live, next } = subscribe(preparedBy(() => promise));
  emit(priceData(1));
  const waiting = next();
  // The execution has begun.
  await setImmediate();
  if (error) events.end(error);
  else await live.return();
  resolve({ data: priceData(1) });
  const received = [await waiting];
  if (error) received.push(await next());
  expect(received).toEqual(expected);
  expect(closed).toHaveBeenCalledOnce();
});
