import { expect, test, vi } from 'vitest';
import { schemaOf } from '../schema-of.ts';
import { argsOf, executeBoth, executorOf, meterFor } from './compiler/both-executors.ts';

// Compiled code requires resolvers at the root.
const ofRoot = (name: string) => ({ resolve: (root: Record<string, unknown>) => root[name] });

const schema = schemaOf(
  `type Query { row: Row rows: [Row!]! }
  type Row { read: String text: String texts: [String!]! numbers: [Float!]! id: ID }
  type Mutation { buy: Outcome }
  type Outcome { id: ID read: [Row] other: Row }`,
  { 'Query.row': ofRoot('row'), 'Query.rows': ofRoot('rows'), 'Mutation.buy': ofRoot('buy') },
);
/** This text counts as ten fields more, one for each 64 characters. */
const LONG = 'x'.repeat(640);
const ROW = { text: LONG, texts: [LONG, 'a', LONG], numbers: Array(80).fill(1), id: LONG };

/** Returns the count of both executors, which must be equal. */
async function fieldsOf(text: string, rootValue: unknown): Promise<number> {
  const args = argsOf(schema, text, { rootValue });
  const counted = await Promise.all(
    [true, false].map(async (isCompiled) => {
      const operation = executorOf(args);
      if (isCompiled) operation.compileFromNowOn();
      const meter = meterFor(args);
      expect((await operation.execute(args, meter)).errors).toBeUndefined();
      return meter.fields;
    }),
  );
  expect(counted[0]).toBe(counted[1]);
  return counted[0] as number;
}

test.each([
  ['one for a field', '{ row { __typename } }', 2],
  ['one more for each 64 characters of a text', '{ row { text } }', 2 + 10],
  ['one more for each 64 characters of an id', '{ row { id } }', 2 + 10],
  ['the texts of a list', '{ row { texts } }', 2 + 20],
  ['the fields of the objects in a list', '{ rows { __typename text } }', 1 + 3 * (2 + 10)],
  ['a long response key like a long text', `{ ${'a'.repeat(128)}: row { __typename } }`, 2 + 2],
])('counts %s', async (_what, text, expected) => {
  expect(await fieldsOf(text, { row: ROW, rows: [ROW, ROW, ROW] })).toBe(expected);
});

test('if compiled code meets a wrong value, its fields count in addition to those of the reference executor', async () => {
  const rootValue = { rows: [ROW, ROW, ROW], row: { texts: null } };
  const args = argsOf(schema, '{ rows { text } row { texts } }', { rootValue });
  const { expected, isCompiled, isCountedAlike } = await executeBoth(args);
  expect(expected.errors).toHaveLength(1);
  expect([isCompiled, isCountedAlike]).toEqual([true, false]);
});

test.each([true, false])(
  'a list whose items exceed the budget is not begun: by compiled code %s',
  async (isCompiled) => {
    const read = vi.fn(() => 'x');
    const rows = Array.from({ length: 50 }, () => ({ read }));
    const args = argsOf(schema, '{ rows { read again: read } }', { rootValue: { rows } });
    const operation = executorOf(args);
    if (isCompiled) operation.compileFromNowOn();
    const { data, errors } = await operation.execute(args, meterFor(args, 100));
    expect(data).toBeNull();
    expect(errors?.[0]?.extensions).toMatchObject({ limit: 'MAX_COST', value: 101, maximum: 100 });
    expect(read).not.toHaveBeenCalled();
  },
);

test('a read of a mutation that exceeds the budget becomes null as a whole, with one error', async () => {
  const text = 'mutation { buy { id read { text } other { id } } }';
  const rootValue = { buy: { id: '7', read: [ROW, ROW, null], other: null } };
  const args = argsOf(schema, text, { rootValue });
  const result = await executorOf(args).execute(args, meterFor(args, 20));
  expect(JSON.parse(JSON.stringify(result.data))).toEqual({
    buy: { id: '7', read: null, other: null },
  });
  expect(result.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [['buy', 'read'], 'QUERY_TOO_COMPLEX'],
  ]);
});

test.each([fail, async () => fail()])(
  'an error counts as the fields that it costs to make and to send: %s',
  async (read) => {
    const count = 100;
    const rows = Array(count).fill({ text: read });
    const args = argsOf(schema, '{ rows { text } }', { rootValue: { rows } });
    const meter = meterFor(args, 1_000);
    const { data, errors } = await executorOf(args).execute(args, meter);
    expect(data).toBeNull();
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
    const enough = meterFor(args, 2_000);
    const whole = await executorOf(args).execute(args, enough);
    expect(whole.errors).toHaveLength(count);
    // Each row has one field, and an error that counts as sixteen.
    expect(enough.fields).toBe(1 + count * (1 + 16));
  },
);

function fail(): never {
  throw new Error('this one fails');
}
