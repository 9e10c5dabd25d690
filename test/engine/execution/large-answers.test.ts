import {
  buildSchema,
  type ExecutionResult,
  executeRootSelectionSet,
  type OperationDefinitionNode,
  parse,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import { expect, test } from 'vitest';
import { COSTLY_FIELDS } from '../../../engine/cost/meter.ts';
import { createMetering } from '../../../engine/cost/metering.ts';
import { Selections } from '../../../engine/documents/selections.ts';
import { CompiledCodeCache } from '../../../engine/execution/compiled-code.ts';
import { CompilingExecutor } from '../../../engine/execution/compiling-executor.ts';
import { jsonBytes, jsonText } from '../../../engine/results/json-text.ts';
import { WrittenItems } from '../../../engine/results/json-writer.ts';
import { meterFor } from './both-executors.ts';

const schema = buildSchema(`
  type Query { rows: [Row!] slow: [Row!] failing(after: Int): [Row!] gone: [Row!] }
  type Row { id: ID! text: String children: [Row] late: Row lateChildren: [Row!] }
`);

interface Row {
  readonly id: string;
  readonly text: string | null;
}

const rowsOf = (count: number, from = 0): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: String(from + at),
    text: at % 7 === 0 ? null : `row ${at} “ä 🐟” \\ \ud800`,
  }));

const RESOLVERS = {
  Query: {
    rows: () => rowsOf(1_500),
    slow: async () => rowsOf(1_500),
    failing: (_source: unknown, { after }: { after?: number }) => {
      if (after === undefined) throw new Error('at once');
      return Promise.resolve(rowsOf(900)).then((rows) => [
        ...rows.slice(0, after),
        new Error('in the list'),
      ]);
    },
    gone: () => Promise.reject(new Error('not there')),
  },
  Row: {
    children: ({ id }: Row) => (Number(id) % 5 === 0 ? rowsOf(40, 5_000) : [null]),
    late: async ({ id }: Row) => (Number(id) % 3 === 0 ? null : rowsOf(1)[0]),
    lateChildren: async () => rowsOf(3),
  },
};

for (const [type, fields] of Object.entries(RESOLVERS)) {
  for (const [name, resolve] of Object.entries(fields)) {
    const field = schema.getField(schema.getType(type) as never, name);
    Object.assign(field as object, { resolve });
  }
}

function argsFor(text: string): ValidatedExecutionArgs {
  const args = validateExecutionArgs({ schema, document: parse(text) });
  if (!('schema' in args)) throw new Error('not valid');
  return args;
}

/** As a transport executes it: a large answer, in slices. */
async function run(text: string, { maxFields = 1_000_000, sliceMs = 1 } = {}) {
  const args = argsFor(text);
  const operation = args.document.definitions[0] as OperationDefinitionNode;
  const compiled = new CompilingExecutor(
    createMetering(schema),
    new Selections(schema, args.document),
    operation,
    new CompiledCodeCache(),
  );
  const meter = meterFor(maxFields, COSTLY_FIELDS + 1, sliceMs);
  const result = await compiled.execute(args, meter);
  const written = String(await jsonBytes(await jsonText(result, meter), meter));
  return { result, written, meter };
}

/** Errors of two fields have no order. */
function sorted({ data, errors }: ExecutionResult): ExecutionResult {
  const byPath = (errors ?? []).toSorted((a, b) => String(a.path).localeCompare(String(b.path)));
  return { data: data ?? null, errors: byPath };
}

async function expectedOf(text: string): Promise<ExecutionResult> {
  return executeRootSelectionSet(argsFor(text));
}

test.each([
  '{ rows { id text } }',
  '{ rows { id children { id text children { id } } } a: slow { text id } }',
  '{ rows { id late { id children { id } } lateChildren { text } } }',
])('an answer that is made and written in slices reads like any other: %s', async (text) => {
  const { result, written } = await run(text);
  expect(written).toBe(JSON.stringify(await expectedOf(text)));
  expect(result.errors).toBeUndefined();
});

test('a list of complete items is written before the answer is complete', async () => {
  const { result } = await run('{ rows { id text children { id } } }', { sliceMs: 60_000 });
  const rows = result.data?.rows as unknown[];
  expect(rows.length).toBeLessThan(50);
  expect(rows.filter((each) => each instanceof WrittenItems).length).toBeGreaterThan(3);
});

test.each([
  '{ a: failing(after: 3) { id } rows { id children { id } } b: failing { id text } }',
  '{ rows { id } gone { id } slow { id } other: gone { text } failing { id } }',
  'query Some { ...F rows { id } } fragment F on Query { failing(after: 899) { id children { id } } }',
])('the fields of the root beside one that fails are answered: %s', async (text) => {
  const expected = await expectedOf(text);
  const { result, written } = await run(text);
  expect(sorted(JSON.parse(written))).toEqual(sorted(JSON.parse(JSON.stringify(expected))));
  expect(Object.keys(result.data ?? {})).toEqual(Object.keys(expected.data ?? {}));
});

test('a failing field counts once towards the budget, and the others as before', async () => {
  const text = '{ rows { id text } failing { id } }';
  const { meter } = await run(text);
  // Two root fields, 1,500 rows of two, their long texts, and the error; what failed first counts as work.
  const spent = 2 + 1_500 * 2 + 16;
  const within = await run(text, { maxFields: spent });
  expect(within.result.data?.rows).not.toBeNull();
  const over = await run(text, { maxFields: spent - 1 });
  expect(over.result).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }],
  });
  expect(meter.fields).toBeGreaterThanOrEqual(spent);
});
