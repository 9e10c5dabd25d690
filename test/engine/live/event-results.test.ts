import { getEventListeners } from 'node:events';
import {
  buildSchema,
  type ExecutionResult,
  executeRootSelectionSet,
  isIntrospectionType,
  isObjectType,
  type OperationDefinitionNode,
  parse,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RunCost } from '../../../engine/admission/operation-context.ts';
import { createListSizes } from '../../../engine/cost/list-sizes.ts';
import { COSTLY_FIELDS, type Meter } from '../../../engine/cost/meter.ts';
import type { PreparedOperation } from '../../../engine/documents/documents.ts';
import { factsOf } from '../../../engine/documents/operation-facts.ts';
import { Selections } from '../../../engine/documents/selections.ts';
import { sharedUseOf } from '../../../engine/documents/sharing-marks.ts';
import { ErrorCodes } from '../../../engine/errors/error-codes.ts';
import { createEventPace, type EventPace } from '../../../engine/live/event-pace.ts';
import {
  createEventResults,
  type EventResults,
  type LiveOperation,
} from '../../../engine/live/event-results.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { singleClient } from '../../../lib/limits/client.ts';
import { createLog } from '../../../lib/log.ts';
import { Registry } from '../../../lib/metrics/registry.ts';
import { PackedText } from '../../../lib/packed-text.ts';
import { PullStream } from '../../../lib/pull-stream.ts';
import { toToken } from '../../../lib/token.ts';
import { Context } from '../../../src/schema/context.ts';
import { ERROR_CODES } from '../../../src/schema/error-codes.ts';
import { createGraphMetrics } from '../../../src/schema/graph-metrics.ts';
import { publicCause } from '../../../src/schema/public-error.ts';
import type { Services } from '../../../src/schema/services.ts';
import { perAccount, perGroup } from '../../../src/schema/sharing.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const schema = buildSchema(`
  type Query { nothing: Int }
  type Subscription { live(every: Int): Event }
  type Event { rows: [Row!]! later: Int failing: Int }
  type Row { price(digits: Int): Float mine: String unmarked: Int ofGroup: Int catalog: Int }
`);

/** All of them are marked as the account's, unless a field is given another mark. */
function setField(type: string, name: string, options: object): void {
  const owner = schema.getType(type);
  const field = isObjectType(owner) ? owner.getFields()[name] : undefined;
  if (!field) throw new Error(`${type}.${name} is missing`);
  Object.assign(field, options);
}

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || isIntrospectionType(type)) continue;
  for (const name of Object.keys(type.getFields())) setField(type.name, name, perAccount);
}
setField('Row', 'unmarked', { extensions: {} });
setField('Row', 'ofGroup', perGroup);

let executed = 0;
/** How many each run counts. */
let fields = 0;
let results: EventResults;

beforeEach(() => {
  executed = 0;
  fields = 0;
  results = resultsPacedBy(paceOf(1_000_000, systemClock));
});

const client = singleClient('account', '1');

function paceOf(fieldsPerMinute: number, clock: Clock): EventPace {
  return createEventPace(createTestLimiter(limited('events', fieldsPerMinute), clock), clock);
}

function resultsPacedBy(pace: EventPace, isTold = false): EventResults {
  const log = createLog({ level: 'fatal', format: 'json', destination: { write: () => {} } });
  const metrics = createGraphMetrics(new Registry());
  const codes = new ErrorCodes({ log, metrics, traits: ERROR_CODES, describe: publicCause });
  const scheduler = new FairScheduler();
  return createEventResults({ codes, receipts: isTold, scheduler, pace, maxCost: 1_000 });
}

class EventContext extends Context {
  receipt = ({ waitedMs }: RunCost) => ({ waitedMs });
}

setField('Row', 'price', {
  resolve: ({ price }: { price: number }) => price,
});
setField('Row', 'mine', {
  resolve: (_row: unknown, _args: unknown, context: Context) => context.scope.caller.token?.text,
});
setField('Row', 'catalog', {
  resolve(_row: unknown, _args: unknown, { scope }: Context) {
    void scope.catalog();
    return 1;
  },
});
setField('Event', 'later', { resolve: async () => 1 });
setField('Event', 'failing', { resolve: fail });

function fail(): never {
  throw new Error('this one fails');
}

const services = {
  identify: () => ({}),
  catalogs: { read: () => ({ version: 1 }) },
} as unknown as Services;

interface Document {
  readonly prepared: PreparedOperation;
  readonly argsFor: (variables: Record<string, unknown>) => ValidatedExecutionArgs;
}

/** Prepared once, as the same text is for all who send it. */
function prepare(text: string): Document {
  const document = parse(text);
  const node = document.definitions.find(
    (definition) => definition.kind === 'OperationDefinition',
  ) as OperationDefinitionNode;
  const { marks } = factsOf(new Selections(schema, document), node, createListSizes(schema));
  const sharedUse = sharedUseOf(marks, document, node);
  const execute = (args: ValidatedExecutionArgs, meter: Meter) => {
    executed += 1;
    meter.ran(fields);
    return executeRootSelectionSet(args);
  };
  return {
    prepared: { node, executor: { execute }, sharedUse } as unknown as PreparedOperation,
    argsFor(variableValues) {
      const args = validateExecutionArgs({ schema, document, variableValues });
      if (!('schema' in args)) throw args[0];
      return args;
    },
  };
}

/** The results that one subscriber is sent for these events. */
async function resultsOf(
  document: Document,
  events: readonly object[],
  options: SubscriberOptions = {},
): Promise<ExecutionResult[]> {
  const all: ExecutionResult[] = [];
  const delivery = follow(document, events, options).deliver({
    takesPacked: false,
    hasRoom: () => true,
    send(result, left) {
      all.push(JSON.parse(plainOf(result)));
      left();
    },
  });
  await delivery.next();
  return all;
}

interface SubscriberOptions {
  readonly token?: string;
  readonly variables?: Record<string, unknown>;
  readonly cost?: number;
  readonly signal?: AbortSignal;
  /** Ends the stream behind its first event. */
  readonly reason?: Error;
}

function follow(
  { prepared, argsFor }: Document,
  events: readonly object[],
  { token = 'a', variables = {}, cost = 1, signal, reason }: SubscriberOptions = {},
) {
  const left = events.values();
  const source = new PullStream<unknown>({
    open: () => {},
    take: () => {
      const { value, done } = left.next();
      if (done) source.end();
      else setImmediate(() => (reason ? source.end(reason) : source.wake()));
      return value;
    },
    close: () => {},
  });
  const live: LiveOperation = {
    prepared,
    args: argsFor(variables),
    cost,
    signal,
    reportsEnd: () => false,
    ended() {},
    record: { requestId: 'r', failed() {} } as never,
    newContext: () => new EventContext(services, { token: toToken(token) }),
    client,
    clientNow: () => client,
    expected: 1,
    reserved: 0,
    waitedMs: 0,
  };
  return results.follow(source, live);
}

const ROWS = { live: { rows: [{ price: 1.5 }, { price: 2.5 }] } };

test('of a large event, which is executed in slices, every waiting subscriber is sent its own result', async () => {
  const large = { cost: COSTLY_FIELDS + 1 };
  const ask = (field: string) => {
    const document = prepare(`subscription { live { rows { ${field} } } }`);
    const event = { live: { rows: [{ price: 1.5 }] } };
    return Promise.all(
      ['a', 'b', 'c'].map((token) => resultsOf(document, [event], { ...large, token })),
    );
  };
  const shared = await ask('price');
  expect(executed).toBe(1);
  expect(new Set(shared.map((all) => JSON.stringify(all))).size).toBe(1);
  const own = await ask('mine');
  expect(own.map(([result]) => result?.data)).toEqual(
    ['a', 'b', 'c'].map((mine) => ({ live: { rows: [{ mine }] } })),
  );
});

test('a result with an error, or with a receipt of how long it waited, is sent to nobody else', async () => {
  const prices = prepare('subscription { live { rows { price } } }');
  const failing = prepare('subscription { live { failing } }');
  for (const [isTold, document, waits, runs] of [
    [false, prices, true, 1],
    [true, prices, false, 1],
    [true, prices, true, 2],
    [true, failing, false, 2],
  ] as const) {
    const clock = createScriptedClock();
    const pace = paceOf(60_000, clock);
    results = resultsPacedBy(pace, isTold);
    executed = 0;
    if (waits) pace.admit(client, 61_000);
    const sent = Promise.all([resultsOf(document, [ROWS]), resultsOf(document, [ROWS])]);
    await clock.advance(60_000);
    await sent;
    expect(executed).toBe(runs);
  }
});

test('results kept before an operation was found to read the viewer’s are dropped', async () => {
  const document = prepare('subscription { live { rows { mine } } }');
  const empty = { live: { rows: [] } };
  await resultsOf(document, [empty]);
  await resultsOf(document, [empty], { token: 'b' });
  expect(executed).toBe(1);
  await resultsOf(document, [ROWS]);
  await resultsOf(document, [empty], { token: 'b' });
  expect(executed).toBe(3);
});

test.each([
  'subscription ($yes: Boolean!) { live { rows { price @include(if: $yes) } } }',
  'subscription ($yes: Boolean!) { live { ...Rows } } fragment Rows on Event { rows { price @include(if: $yes) } }',
  'subscription ($yes: Boolean!) { live @include(if: $yes) { rows { price } } }',
])('where variables decide what is shown, each has its own: %s', async (text) => {
  const document = prepare(text);
  const [shown] = await resultsOf(document, [ROWS], { variables: { yes: true } });
  const [hidden] = await resultsOf(document, [ROWS], { variables: { yes: false } });
  expect(JSON.stringify(shown)).toContain('1.5');
  expect(JSON.stringify(hidden)).not.toContain('1.5');
});

test('a subscription that has ended leaves no listener to its connection', async () => {
  const { signal } = new AbortController();
  await resultsOf(prepare('subscription { live { later } }'), [ROWS], { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

/** What is sent of one event to a subscriber. */
async function sentTo(
  document: Document,
  event: object,
  { takesPacked = true, ...options }: SubscriberOptions & { takesPacked?: boolean } = {},
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const delivery = follow(document, [event], options).deliver({
    takesPacked,
    hasRoom: () => true,
    send: resolve,
  });
  void delivery.next();
  const sent = await promise;
  await delivery.return();
  return sent;
}

function plainOf(sent: unknown): string {
  const text = sent instanceof PackedText ? sent.text : sent;
  return typeof text === 'string' ? text : Buffer.concat(text as Buffer[]).toString();
}

test('a result is packed once for all who are sent it, and for nobody else', async () => {
  const document = prepare('subscription { live { rows { price mine } } }');
  const shared = prepare('subscription ($ms: Int) { live(every: $ms) { rows { price } } }');
  const rows = Array.from({ length: 200 }, (_, price) => ({ price }));
  for (const cost of [1, COSTLY_FIELDS + 1]) {
    const event = { live: { rows } };
    const [first, second, plain] = await Promise.all([
      sentTo(shared, event, { cost }),
      sentTo(shared, event, { cost, token: 'b' }),
      sentTo(shared, event, { cost, takesPacked: false }),
    ]);
    expect(first).toBeInstanceOf(PackedText);
    expect(second).toBe(first);
    expect(plainOf(first)).toBe(plainOf(plain));
    const [own, other] = await Promise.all(
      ['a', 'b'].map((token) => sentTo(document, event, { cost, token })),
    );
    expect(plainOf(own)).toContain('"mine":"a"');
    expect(plainOf(other)).toContain('"mine":"b"');
  }
});

describe('the budget of an account is charged', () => {
  const document = prepare('subscription { live { rows { price } } }');
  const event = { live: { rows: Array.from({ length: 200 }, (_, price) => ({ price })) } };
  const further = 1 + Math.floor(JSON.stringify({ data: event }).length / 64);

  test.each([1, COSTLY_FIELDS + 1])(
    'for a shared event once, and for its bytes by each further reader, estimated at %i',
    async (cost) => {
      const clock = createScriptedClock();
      fields = 402;
      // At 0 the next may still go.
      const pace = paceOf(402 + 4 * further, clock);
      results = resultsPacedBy(pace);
      const follow = () => sentTo(document, event, { cost, takesPacked: false });
      for (let at = 0; at < 5; at += 1) await follow();
      expect(pace.admit(client, 1)).toBeNull();
      expect(pace.admit(client, 1)).not.toBeNull();
      expect(executed).toBe(1);
    },
  );

  test('for no event that waits when its subscription ends: the reason alone is sent, at once', async () => {
    const pace = paceOf(60_000, createScriptedClock());
    results = resultsPacedBy(pace);
    pace.admit(client, 61_000);
    const sent = await resultsOf(document, [event], { reason: new Error('over') });
    expect(sent).toMatchObject([{ errors: [{ extensions: { code: 'INTERNAL' } }] }]);
    expect(sent[0]).not.toHaveProperty('data');
    expect(executed).toBe(0);
  });
});
