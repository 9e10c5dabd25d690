import { executeRootSelectionSet } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schemaOf } from '../../schema-of.ts';
import {
  argsOf,
  canonicalText,
  conformingStage,
  executeBoth,
  executeValid,
  executorOf,
  meterFor,
} from './both-executors.ts';
import { hostileSchema } from './hostile-schema.ts';

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'])(
  'a client can use the name %s',
  async (name) => {
    const { found, isCompiled } = await executeValid(
      `query ${name}($${name}: ID!) {
          ${name}: echo(must: $${name}) ...${name} x: nodeMustRead { ...b }
        }
        fragment ${name} on Query { other: echo(must: $${name}) }
        fragment b on Node { ${name}: __typename }`,
      { variableValues: JSON.parse(`{"${name}":"given"}`) },
    );
    // Only graphql-js can make an object with this key.
    expect(isCompiled).toBe(name !== '__proto__');
    expect(JSON.stringify(found.data)).toContain(`{"${name}":{"must":"given"`);
    expect(JSON.stringify(found.data)).toContain(`{"${name}":"Node"}`);
  },
);
test('conditions of another operation in the document do not prevent compiling', async () => {
  const { found, isCompiled } = await executeValid(
    `query One($skip: Boolean!) { nodeMustRead { ...F @skip(if: $skip) text } }
    query Two { nodeMustRead { ...F id } }
    fragment F on Node { count }`,
    { operationName: 'Two' },
  );
  expect(isCompiled).toBe(true);
  expect(Object.keys(Object(found.data?.nodeMustRead))).toEqual(['count', 'id']);
});

test('the fields of a mutation run serially, also after many runs', async () => {
  const steps: string[] = [];
  const schema = schemaOf('type Query { one: Int } type Mutation { step(n: Int): Int! }', {
    'Mutation.step': {
      async resolve(_root: unknown, { n }: { n: number }) {
        steps.push(`begins ${n}`);
        await new Promise(setImmediate);
        steps.push(`ends ${n}`);
        return n;
      },
    },
  });
  const args = argsOf(schema, 'mutation { a: step(n: 1) b: step(n: 2) c: step(n: 3) }');
  const executor = executorOf(args);
  for (let time = 0; time < 5; time += 1) {
    expect(await executor.execute(args, meterFor(args))).toEqual({ data: { a: 1, b: 2, c: 3 } });
    expect(steps.splice(0)).toEqual([1, 2, 3].flatMap((n) => [`begins ${n}`, `ends ${n}`]));
  }
});

test('an error below the root is not attributed to a root field of the same name', async () => {
  const schema = schemaOf('type Query { row: Row } type Row { row: String! }', {
    'Query.row': { resolve: () => ({}) },
    'Row.row': { resolve: () => Promise.reject(new Error('fails')) },
  });
  const { found, isCompiled } = await executeBoth(argsOf(schema, '{ row { row } }'));
  expect(isCompiled).toBe(true);
  expect(found).toMatchObject({ data: { row: null }, errors: [{ path: ['row', 'row'] }] });
});

describe('a document', () => {
  const manyIds = (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `a${index}: id`);
    return `{ nodeMustRead { ${ids.join(' ')} } }`;
  };

  test('is compiled if it has at most 1,000 fields, for at most sixteen combinations of its conditions', async () => {
    // The field around the ids counts too.
    expect((await executeValid(manyIds(999))).isCompiled).toBe(true);
    expect((await executeValid(manyIds(1_000))).isCompiled).toBe(false);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const head = names.map((name) => `$${name}: Boolean!`).join(', ');
    const fields = names.map((name) => `${name}: id @include(if: $${name})`).join(' ');
    /** Each bit of `bits` is the value of one of the seven variables. */
    const args = (bits: number) => {
      const bitOf = (index: number) => (bits & (1 << index)) > 0;
      const values = Object.fromEntries(names.map((name, index) => [name, bitOf(index)]));
      const text = `query (${head}) { nodeMustRead { ${fields} } }`;
      return argsOf(hostileSchema, text, {
        variableValues: values,
        contextValue: conformingStage(),
      });
    };
    const compiled = executorOf(args(0));
    compiled.compileFromNowOn();
    for (let bits = 0; bits < 2 ** names.length; bits += 1) {
      const given = args(bits);
      expect(canonicalText(await compiled.execute(given, meterFor(given)))).toBe(
        canonicalText(await executeRootSelectionSet(given)),
      );
    }
    // The first sixteen combinations select every subset of four fields. Each has two fields on average, and the root field.
    expect(compiled.compiledFields).toBe(16 * (2 + 1));
  });
});

test('each promise of a list fails alone, and none of its rejections is unhandled', async () => {
  const failing = (count: number) =>
    Array.from({ length: count }, (_, id) =>
      id % 2 === 0 ? Promise.resolve({ id }) : Promise.reject(new Error(`item ${id}`)),
    );
  const schema = schemaOf('type Query { rows: [Row] texts: [String] } type Row { id: ID }', {
    'Query.rows': { resolve: () => failing(300) },
    'Query.texts': { resolve: () => [...failing(2), Promise.reject(new Error('a text'))] },
  });
  const args = argsOf(schema, '{ rows { id } texts }');
  const executor = executorOf(args);
  for (let run = 0; run < 3; run += 1) {
    const { data, errors = [] } = await executor.execute(args, meterFor(args));
    const { rows } = data as { rows: readonly unknown[] };
    expect(rows.slice(0, 4)).toEqual([{ id: '0' }, null, { id: '2' }, null]);
    expect(errors).toHaveLength(150 + 3);
  }
});
