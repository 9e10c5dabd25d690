import { getEventListeners } from 'node:events';
import {
  type ExecutionResult,
  executeRootSelectionSet,
  type ValidatedExecutionArgs,
} from 'graphql';
import { beforeEach, expect, test, vi } from 'vitest';
import { ClientLimits } from '../../../src/engine/admission/client-limits.ts';
import type { PreparedOperation } from '../../../src/engine/documents/documents.ts';
import { EventResults } from '../../../src/engine/execution/event-results.ts';
import { ErrorCodes } from '../../../src/engine/operation/error-codes.ts';
import { COSTLY_FIELDS, type Meter } from '../../../src/engine/operation/meter.ts';
import { FairScheduler } from '../../../src/lib/fair-scheduler.ts';
import { singleClient } from '../../../src/lib/limits/client.ts';
import { createLog } from '../../../src/lib/log.ts';
import { PullStream } from '../../../src/lib/pull-stream.ts';
import { perAccount } from '../../../src/schema/sharing.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { argsOf } from '../documents/compiler/both-executors.ts';
import { factsIn, schemaOf } from '../schema-of.ts';

function contextOf(token: string) {
  return { isPersonal: false, readsShared: false, receipt: () => ({}), token };
}

const schema = schemaOf(
  `type Query { nothing: Int }
  type Subscription { live(every: Int): Event }
  type Event { rows: [Row!]! failing: Int }
  type Row { price: Float mine: String }`,
  {
    'Subscription.live': perAccount,
    'Event.rows': perAccount,
    'Event.failing': { ...perAccount, resolve: fail },
    'Row.price': perAccount,
    'Row.mine': {
      ...perAccount,
      resolve(_row: unknown, _args: unknown, context: ReturnType<typeof contextOf>) {
        context.isPersonal = true;
        return context.token;
      },
    },
  },
);

function fail(): never {
  throw new Error('this one fails');
}

/** How often an event was executed. */
let executed = 0;
/** The number of fields that each execution reports. */
let fields = 0;
let results: EventResults;

beforeEach(() => {
  executed = 0;
  fields = 0;
  results = resultsFor(1_000_000);
});

const client = singleClient('account', '1');

/** Results whose clients are limited to this many fields in a minute. */
function resultsFor(fieldsPerMinute: number): EventResults {
  const limiter = createTestLimiter(limited('fields', fieldsPerMinute), createScriptedClock());
  const codes = new ErrorCodes({
    log: createLog({ level: 'fatal', destination: { write: () => {} } }),
    metrics: { error() {}, refusal() {} },
    describe: () => ({ message: 'masked', extensions: {} }),
  });
  return new EventResults({
    codes,
    receipts: false,
    scheduler: new FairScheduler(),
    limits: new ClientLimits(limiter),
    maxCost: 1_000,
  });
}

/** Prepares a document. Several subscribers share it, as if they had sent the same text. */
function prepare(text: string) {
  const execute = (args: ValidatedExecutionArgs, meter: Meter) => {
    executed += 1;
    meter.ran(fields);
    return executeRootSelectionSet(args);
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
  readonly token?: string;
  readonly variables?: Record<string, unknown>;
  readonly cost?: number;
  readonly signal?: AbortSignal;
}

/** A subscriber that takes each result when the test calls `taken`. */
function subscribe({ text, prepared }: Document, options: SubscriberOptions = {}) {
  const { token = 'a', variables, cost = 1, signal } = options;
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
    cost,
    caller: { token: null, signal, standing: { provedClient: client, isAccepted: true } },
    reportsEnd: () => false,
    ended,
    record: { requestId: 'r', failed() {} } as never,
    newContext: () => contextOf(token),
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

// A result with an estimate above COSTLY_FIELDS is made in slices.
test.each([1, COSTLY_FIELDS + 1])(
  'a shareable result is made and serialized once for all readers, with an estimate of %i',
  async (cost) => {
    const shared = prepare('subscription ($ms: Int) { live(every: $ms) { rows { price } } }');
    const [first, second, plain] = await Promise.all([
      sentTo(shared, MANY, { cost }),
      sentTo(shared, MANY, { cost, token: 'b' }),
      sentTo(shared, MANY, { cost }),
    ]);
    expect(executed).toBe(1);
    expect(second).toBe(first);
    expect(plainOf(first)).toBe(plainOf(plain));
    // A result with data of the viewer is made for each reader: `mine` is the reader's token.
    const own = prepare('subscription { live { rows { price mine } } }');
    const readers = ['a', 'b', 'c'].map(async (token) => {
      const sent = await sentTo(own, MANY, { cost, token });
      const rows = MANY.live.rows.map(({ price }) => ({ price, mine: token }));
      expect(JSON.parse(plainOf(sent))).toEqual({ data: { live: { rows } } });
    });
    await Promise.all(readers);
  },
);

test('a result with an error is not shared', async () => {
  const failing = prepare('subscription { live { failing } }');
  const executionsForTwoReaders = (document: Document) => {
    executed = 0;
    const readers = [subscribe(document), subscribe(document)];
    for (const { emit } of readers) emit(ROWS);
    for (const { sent } of readers) expect(sent).toHaveLength(1);
    return executed;
  };
  expect(executionsForTwoReaders(priceDocument)).toBe(1);
  expect(executionsForTwoReaders(failing)).toBe(2);
});

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

test('when an operation has read the viewer’s data, its earlier shared results are no longer used', async () => {
  const document = prepare('subscription { live { rows { mine } } }');
  const empty = { live: { rows: [] } };
  await sentTo(document, empty);
  await sentTo(document, empty, { token: 'b' });
  expect(executed).toBe(1);
  // With rows the operation reads `mine`, so the result of `empty` has to be made again.
  await sentTo(document, ROWS);
  await sentTo(document, empty, { token: 'b' });
  expect(executed).toBe(3);
});

test.each([
  'subscription ($yes: Boolean!) { live { rows { price @include(if: $yes) } } }',
  'subscription ($yes: Boolean!) { live { ...Rows } } fragment Rows on Event { rows { price @include(if: $yes) } }',
  'subscription ($yes: Boolean!) { live @include(if: $yes) { rows { price } } }',
])('if variables affect the result, each subscriber has its own: %s', async (text) => {
  const document = prepare(text);
  expect(await sentTo(document, ROWS, { variables: { yes: true } })).toContain('1.5');
  expect(await sentTo(document, ROWS, { variables: { yes: false } })).not.toContain('1.5');
});

test.each([1, COSTLY_FIELDS + 1])(
  'each reader of a shared event is charged for its fields, until an error replaces the event, with an estimate of %i',
  async (cost) => {
    // This number is arbitrary.
    fields = 402;
    results = resultsFor(fields * 5);
    for (let index = 0; index < 5; index += 1) await sentTo(priceDocument, MANY, { cost });
    // Five events use up the limit. The sixth is still sent, because the client is not over its limit yet.
    await sentTo(priceDocument, MANY, { cost });
    expect(executed).toBe(1);
    const { signal } = new AbortController();
    const { emit, taken, finished, received } = subscribe(priceDocument, { signal, cost });
    emit(MANY);
    expect(received()).toMatchObject([{ errors: [{ extensions: { code: 'RATE_LIMITED' } }] }]);
    taken();
    await finished;
    // The stream has ended, and no longer listens to the signal.
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },
);

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
