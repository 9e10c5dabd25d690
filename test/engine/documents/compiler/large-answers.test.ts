import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { type ExecutionResult, executeRootSelectionSet, GraphQLError } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { jsonText } from '../../../../src/engine/execution/json-text.ts';
import { COSTLY_FIELDS, Meter } from '../../../../src/engine/operation/meter.ts';
import { FairScheduler } from '../../../../src/lib/fair-scheduler.ts';
import { eventually } from '../../../support/eventually.ts';
import { turnsDuring } from '../../../support/turns.ts';
import { schemaOf } from '../../schema-of.ts';
import { argsOf, executorOf, meterFor, slicedMeter } from './both-executors.ts';

interface Row {
  readonly id: string;
  readonly text: string | null;
}

const rowsOf = (count: number, from = 0): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(from + index),
    text: index % 7 === 0 ? null : `row ${index} “ä 🐟” \\ \ud800`,
  }));

async function failing(_source: unknown, { after }: { after: number }) {
  return [...rowsOf(after), new Error('in the list')];
}

function failAtOnce() {
  throw new Error('at once');
}

const schema = schemaOf(
  `type Query { rows: [Row!] slow: [Row!] failing(after: Int): [Row!] gone: [Row!] broken: [Row!] }
  type Row { id: ID! text: String children: [Row] late: Row lateChildren: [Row!] }`,
  {
    'Query.rows': { resolve: () => rowsOf(1_500) },
    'Query.slow': { resolve: async () => rowsOf(1_500) },
    'Query.failing': { resolve: failing },
    'Query.broken': { resolve: failAtOnce },
    'Query.gone': { resolve: () => Promise.reject(new Error('not there')) },
    'Row.children': {
      resolve: ({ id }: Row) => (Number(id) % 5 === 0 ? rowsOf(40, 5_000) : [null]),
    },
    'Row.late': { resolve: async ({ id }: Row) => (Number(id) % 3 === 0 ? null : rowsOf(1)[0]) },
    'Row.lateChildren': { resolve: async () => rowsOf(3) },
  },
);

/** The meter of a costly answer, which is made in slices of this length. */
const costlyMeter = (sliceMs: number, maxFields = 1_000_000) =>
  meterFor(maxFields, COSTLY_FIELDS + 1, sliceMs);

/** Serializes a result in slices. */
async function written(result: ExecutionResult, meter = costlyMeter(5)): Promise<string> {
  const text = await jsonText(result, meter);
  return typeof text === 'string' ? text : Buffer.concat(text).toString();
}

/** Executes a query and serializes its answer, both in slices, as a transport does. */
async function run(query: string, maxFields?: number) {
  const args = argsOf(schema, query);
  const meter = costlyMeter(1, maxFields);
  const result = await executorOf(args).execute(args, meter);
  return { result, text: await written(result, meter), meter };
}

/** Sorts the errors, because errors of different fields have no fixed order. */
function sorted({ data, errors }: ExecutionResult): ExecutionResult {
  const byPath = (errors ?? []).toSorted((a, b) => String(a.path).localeCompare(String(b.path)));
  return { data: data ?? null, errors: byPath };
}

test.each([
  '{ rows { id text } }',
  '{ rows { id children { id text children { id } } } a: slow { text id } }',
  '{ rows { id late { id children { id } } lateChildren { text } } }',
  // If one root field fails, the others are answered.
  '{ a: failing(after: 3) { id } rows { id children { id } } b: broken { id text } }',
  '{ rows { id } gone { id } slow { id } other: gone { text } broken { id } }',
  'query Some { ...F rows { id } } fragment F on Query { failing(after: 899) { id children { id } } }',
])(
  'an answer that is made and serialized in slices equals the answer made at once: %s',
  async (query) => {
    const expected = await executeRootSelectionSet(argsOf(schema, query));
    const { result, text } = await run(query);
    expect(sorted(JSON.parse(text))).toEqual(sorted(JSON.parse(JSON.stringify(expected))));
    expect(Object.keys(result.data ?? {})).toEqual(Object.keys(expected.data ?? {}));
    if (!expected.errors) expect(text).toBe(JSON.stringify(expected));
  },
);

test('a failing field counts once towards the budget, and the other fields count unchanged', async () => {
  const query = '{ rows { id text } broken { id } }';
  const { meter } = await run(query);
  // The budget counts two root fields, 1,500 rows with two fields, and 16 for the error.
  const spent = 2 + 1_500 * 2 + 16;
  const within = await run(query, spent);
  expect(within.result.data?.rows).not.toBeNull();
  const over = await run(query, spent - 1);
  expect(over.result).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }],
  });
  expect(meter.fields).toBeGreaterThanOrEqual(spent);
});

test('an answer serialized in slices equals the answer serialized at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ maxDepth: 6 }), { maxLength: 400 }),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      async (rows, more) => {
        const result = { data: { ...more, rows, nested: { rows, again: [rows, rows] } } };
        expect(await written(result)).toBe(JSON.stringify(result));
      },
    ),
    { numRuns: 60 },
  );
});

test('errors are serialized as errors, and undefined is left out', async () => {
  const rows = Array.from({ length: 600 }, (_, id) => ({ id, left: undefined, list: [undefined] }));
  const errors = [new GraphQLError('wrong', { path: ['rows', 3], extensions: { code: 'SOME' } })];
  const result = { data: { rows }, errors, extensions: undefined as never };
  expect(await written(result)).toBe(JSON.stringify(result));
});

test('serializing a large answer yields to other tasks', async () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, name: `row ${id}`, ids: [id] }));
  const large = async () => jsonText({ data: { rows } }, costlyMeter(5));
  expect(await turnsDuring(large)).toBeGreaterThan(3);
  // With slices of 0 ms even this short answer takes many turns of the event loop.
  const list = Array(20_000).fill(0);
  const inShortestSlices = async () => jsonText({ data: { list } }, costlyMeter(0));
  expect(await turnsDuring(inShortestSlices)).toBeGreaterThan(100);
});

/** The fields whose resolvers have begun. */
const began: string[] = [];

const postponing = schemaOf('type Query { computed(n: Int): Int read: Int list: [Query] }', {
  'Query.computed': {
    resolve(_source: unknown, { n }: { n: number }) {
      began.push(`computed ${n}`);
      return n;
    },
  },
  'Query.read': { resolve: () => began.push('read') && 3 },
  'Query.list': { resolve: () => Array(500).fill({}) },
});

function begin(executor: string, text: string, signal?: AbortSignal) {
  began.length = 0;
  const args = argsOf(postponing, text);
  const operation = executorOf(args);
  const isCompiled = executor === 'compiled code';
  if (isCompiled) operation.compileAtNextRun();
  // Each slice has time for one field. An answer that is estimated as costly runs compiled code. With a lower estimate, it
  // runs in the reference executor, and becomes costly at its first field.
  const meter = slicedMeter(isCompiled ? COSTLY_FIELDS + 1 : COSTLY_FIELDS, signal);
  return operation.execute(args, meter);
}

describe.each(['compiled code', 'the reference executor'])('in a costly answer, %s', (executor) => {
  test('postpones fields with arguments, because their resolvers may compute', async () => {
    const answer = begin(executor, '{ a: computed(n: 1) b: computed(n: 2) read }');
    expect(began).toEqual(['computed 1', 'read']);
    expect((await answer).data).toEqual({ a: 1, b: 2, read: 3 });
    expect(began).toContain('computed 2');
  });

  test.each([
    '{ a: computed(n: 1) b: computed(n: 2) }',
    '{ a: computed(n: 1) list { b: computed(n: 2) } }',
  ])('stops when its client has left: %s', async (text) => {
    const client = new AbortController();
    const answer = begin(executor, text, client.signal);
    const before = began.length;
    client.abort();
    const { data, errors } = await answer;
    expect(data).toBeNull();
    expect(errors?.[0]?.message).toBe('Its client has left.');
    expect(began.length).toBe(before);
    // A query of a client that has already left is not executed.
    expect((await begin(executor, text, client.signal)).data).toBeNull();
  });
});

test('a meter that begins and leaves twice releases its fields only once', async () => {
  const scheduler = new FairScheduler();
  const meterOf = (estimate: number) =>
    new Meter({ maxFields: estimate, scheduler, client: 'one', estimate });
  const first = meterOf(300_000);
  const twice = meterOf(200_000);
  const last = meterOf(300_000);
  await first.begin();
  for (let time = 0; time < 2; time += 1) {
    await twice.begin();
    twice.leave();
  }
  const begun = vi.fn();
  void last.begin().then(begun);
  for (let turns = 0; turns < 3; turns += 1) await setImmediate();
  // The first and the last exceed the 500,000 fields of a client together. They would fit after a second release.
  expect(begun).not.toHaveBeenCalled();
  first.leave();
  await eventually(() => expect(begun).toHaveBeenCalled());
});

test('a costly mutation writes at once, but its lists wait for the client’s earlier answer', async () => {
  const writes: number[] = [];
  const writing = schemaOf(
    'type Query { n: Int } type Mutation { write(n: Int): Written } type Written { rows: [Row] } type Row { id: ID }',
    {
      'Mutation.write': {
        resolve: (_source: unknown, { n }: { n: number }) => ({ n: writes.push(n) }),
      },
      'Written.rows': { resolve: () => rowsOf(3) },
    },
  );
  const scheduler = new FairScheduler();
  const mutate = async (n: number) => {
    const estimate = 300_000;
    const options = { maxFields: estimate, scheduler, client: 'one', estimate, isWrite: true };
    const meter = new Meter(options);
    await meter.begin();
    const args = argsOf(writing, `mutation { write(n: ${n}) { rows { id } } }`);
    return { meter, answer: Promise.resolve(executorOf(args).execute(args, meter)) };
  };
  const [first, second] = [await mutate(1), await mutate(2)];
  const rows = [{ id: '0' }, { id: '1' }, { id: '2' }];
  expect(await first.answer).toEqual({ data: { write: { rows } } });
  expect(writes).toEqual([1, 2]);
  // Both mutations have written, but only the first is answered until its meter leaves.
  const answered = vi.fn();
  void second.answer.then(answered);
  await setImmediate();
  expect(answered).not.toHaveBeenCalled();
  first.meter.leave();
  expect(await second.answer).toEqual({ data: { write: { rows } } });
});
