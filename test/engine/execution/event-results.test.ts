import { getEventListeners } from 'node:events';
import type { ExecutionResult, ValidatedExecutionArgs } from 'graphql';
import { beforeEach, expect, test, vi } from 'vitest';
import { ClientLimits } from '../../../src/engine/admission/client-limits.ts';
import type { PreparedOperation } from '../../../src/engine/documents/documents.ts';
import { EventResults } from '../../../src/engine/execution/event-results.ts';
import { ErrorMasking } from '../../../src/engine/operation/error-masking.ts';
import type { Meter } from '../../../src/engine/operation/meter.ts';
import { singleClient } from '../../../src/lib/limits/client.ts';
import { createLog } from '../../../src/lib/log.ts';
import { PullStream } from '../../../src/lib/pull-stream.ts';
import { eventually } from '../../support/eventually.ts';
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
let results: EventResults;

beforeEach(() => {
  executed = 0;
  results = resultsFor(1_000_000);
});

const client = singleClient('account', '1');

/** Results whose clients are limited to this many fields in a minute. */
function resultsFor(fieldsPerMinute: number): EventResults {
  const limiter = createTestLimiter(limited('fields', fieldsPerMinute), createScriptedClock());
  const codes = new ErrorMasking({
    log: createLog({ level: 'fatal', destination: { write: () => {} } }),
    metrics: { error() {}, refusal() {} },
    describe: () => ({ message: 'masked', extensions: {} }),
  });
  return new EventResults({
    codes,
    receipts: false,
    limits: new ClientLimits(limiter),
    maxCost: 1_000,
  });
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

interface SubscriberOptions {
  readonly variables?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

/** A subscriber that takes each result when the test calls `taken`. */
function subscribe({ text, prepared }: Document, options: SubscriberOptions = {}) {
  const { variables, signal } = options;
  let newest: object | undefined;
  const missed = vi.fn();
  const closed = vi.fn();
  const events = new PullStream<object>({
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
  const sent: unknown[] = [];
  /** One callback for each sent result, which reports that the reader has taken it. */
  const takenCallbacks: (() => void)[] = [];
  const room: { isFull: boolean; ready: (() => void) | null } = { isFull: false, ready: null };
  const ended = vi.fn();
  const followed = results.follow({
    events,
    prepared,
    args: argsOf(schema, text, { variableValues: variables }),
    facts: prepared.facts.for({}, () => 0),
    caller: { token: null, signal, tokenStatus: { provedClient: client, isAccepted: true } },
    reportsEnd: () => false,
    ended,
    record: { requestId: 'r', failed() {} } as never,
    newContext: () => ({ receipt: () => ({}) }),
  });
  const delivered = followed.deliver({
    hasRoom: (ready) => {
      room.ready = ready;
      return !room.isFull;
    },
    send: (result, taken) => {
      sent.push(result);
      takenCallbacks.push(taken);
    },
  });
  const onFinished = vi.fn();
  const finished = delivered.then(onFinished);
  return {
    events,
    closed,
    missed,
    sent,
    room,
    ended,
    followed,
    onFinished,
    finished,
    received: () => sent.map((each) => JSON.parse(plainOf(each)) as ExecutionResult),
    emit(event: object) {
      newest = event;
      events.wake();
    },
    /** Reports that the reader has taken a result. */
    taken: () => takenCallbacks.shift()?.(),
  };
}

/** Returns the result that one subscriber receives for an event, and ends its stream. */
async function sentTo(document: Document, event: object, options?: SubscriberOptions) {
  const { emit, sent, taken, events, finished } = subscribe(document, options);
  emit(event);
  await eventually(() => expect(sent).toHaveLength(1));
  taken();
  events.end();
  await finished;
  return sent[0];
}

function plainOf(sent: unknown): string {
  return typeof sent === 'string' ? sent : Buffer.concat(sent as Buffer[]).toString();
}

const priceDocument = prepare('subscription { live { rows { price } } }');
const priceData = (price: number) => ({ live: { rows: [{ price }] } });
const MASKED = { errors: [{ message: 'masked' }] };
const ROWS = { live: { rows: [{ price: 1.5 }, { price: 2.5 }] } };
const MANY = { live: { rows: Array.from({ length: 200 }, (_, price) => ({ price })) } };

test('a feed is notified if its event’s changes could not be sent to a reader', async () => {
  // A result without data contains no changes.
  const failing = preparedBy(() => ({ data: null, errors: [] }));
  const [sending, notSending] = [subscribe(priceDocument), subscribe(failing)];
  for (const { emit } of [sending, notSending]) emit(ROWS);
  expect(sending.missed).not.toHaveBeenCalled();
  expect(notSending.missed).toHaveBeenCalledOnce();
});

test.each([null, 1])(
  'two events with the value %j can be different, so each has its own result',
  async (event) => {
    for (let index = 0; index < 2; index += 1)
      await sentTo(priceDocument, event as unknown as object);
    expect(executed).toBe(2);
  },
);

test('each reader of an event is charged for its fields, until an error replaces the event', async () => {
  const FIELDS = 2 + 200;
  results = resultsFor(FIELDS * 5);
  for (let index = 0; index < 5; index += 1) await sentTo(priceDocument, MANY);
  // Five events use up the limit. The sixth is still sent, because the client is not over its limit yet.
  await sentTo(priceDocument, MANY);
  const { signal } = new AbortController();
  const { emit, taken, finished, received } = subscribe(priceDocument, { signal });
  emit(MANY);
  expect(received()).toMatchObject([{ errors: [{ extensions: { code: 'RATE_LIMITED' } }] }]);
  taken();
  await finished;
  // The stream has ended, and no longer listens to the signal.
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('no result is made while the client has no room, and events are merged', async () => {
  const { received, emit, taken, room, events, finished } = subscribe(priceDocument);
  room.isFull = true;
  emit(priceData(1));
  emit(priceData(2));
  room.ready?.();
  expect(received()).toEqual([]);
  room.isFull = false;
  room.ready?.();
  expect(received()).toEqual([{ data: priceData(2) }]);
  taken();
  room.isFull = true;
  emit(priceData(3));
  events.end(null);
  room.ready?.();
  await finished;
  expect(received()).toHaveLength(1);
});

test('when a stream ends with an error, the error is sent after the result that is being sent', async () => {
  const { received, onFinished, finished, ended, events, emit, taken } = subscribe(priceDocument);
  emit(priceData(1));
  events.end(new Error('over'));
  expect(received()).toEqual([{ data: priceData(1) }]);
  await Promise.resolve();
  expect(onFinished).not.toHaveBeenCalled();
  taken();
  expect(received()).toEqual([{ data: priceData(1) }, MASKED]);
  await Promise.resolve();
  // The error is not taken yet.
  expect(onFinished).not.toHaveBeenCalled();
  taken();
  await finished;
  expect(ended).toHaveBeenCalled();
});

test('a client that leaves while it reads an event does not receive the error of the stream’s end', async () => {
  const { received, followed, events, emit, taken, finished } = subscribe(priceDocument);
  emit(priceData(1));
  events.end(new Error('over'));
  followed.leave();
  taken();
  await finished;
  expect(received()).toEqual([{ data: priceData(1) }]);
});

test.each([fail, async () => fail()])(
  'if the execution of an event throws, the subscription ends with that error: %s',
  async (execute) => {
    const { received, closed, emit, taken, finished } = subscribe(preparedBy(execute));
    emit(ROWS);
    await new Promise(setImmediate);
    expect(received()).toEqual([MASKED]);
    taken();
    await finished;
    expect(closed).toHaveBeenCalledOnce();
  },
);

test.each([
  ['has disconnected receives nothing more', null, []],
  ['has lost its token receives only the error', new Error('over'), [MASKED]],
])('a client that %s, even with a result in progress', async (_what, error, expected) => {
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const subscriber = subscribe(preparedBy(() => promise));
  const { received, events, closed, followed, emit, taken, finished } = subscriber;
  emit(ROWS);
  if (error) events.end(error);
  else followed.leave();
  resolve({ data: priceData(1) });
  await new Promise(setImmediate);
  emit(priceData(2));
  expect(received()).toEqual(expected);
  taken();
  await finished;
  expect(closed).toHaveBeenCalledOnce();
});
