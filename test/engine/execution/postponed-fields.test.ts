import {
  type GraphQLFieldConfig,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  validateExecutionArgs,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { COSTLY_FIELDS } from '../../../engine/cost/meter.ts';
import { createMetering } from '../../../engine/cost/metering.ts';
import { Selections } from '../../../engine/documents/selections.ts';
import { CompiledCodeCache } from '../../../engine/execution/compiled-code.ts';
import { CompilingExecutor } from '../../../engine/execution/compiling-executor.ts';
import { perGroup } from '../../../src/schema/sharing.ts';
import { meterFor } from './both-executors.ts';

const began: string[] = [];

function field(name: string): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: GraphQLInt,
    args: { n: { type: GraphQLInt } },
    resolve(_source, { n }) {
      began.push(`${name} ${n}`);
      return n;
    },
  };
}

const query: GraphQLObjectType = new GraphQLObjectType({
  name: 'Query',
  fields: () => ({
    computed: { ...field('computed'), ...perGroup },
    read: field('read'),
    list: { type: new GraphQLList(query), resolve: () => Array(500).fill({}) },
  }),
});
const schema = new GraphQLSchema({ query });

function begin(executor: string, text: string, signal?: AbortSignal) {
  began.length = 0;
  const document = parse(text);
  const operation = new CompilingExecutor(
    createMetering(schema),
    new Selections(schema, document),
    document.definitions[0] as OperationDefinitionNode,
    new CompiledCodeCache(),
  );
  if (executor === 'compiled code') operation.compile();
  const args = validateExecutionArgs({ schema, document });
  if (!('schema' in args)) throw new Error('the document is wrong');
  // The first field reads the clock for the first time in its turn; for all others the slice is over.
  const meter = meterFor(1_000_000, 0, 0, signal);
  // Costly from the first field on: an answer that is costly before is compiled.
  meter.fields = executor === 'compiled code' ? COSTLY_FIELDS + 1 : COSTLY_FIELDS;
  return operation.execute(args, meter);
}

describe.each(['compiled code', 'the reference executor'])('in a costly answer %s', (executor) => {
  test('begins every read of the gateway in its first turn, and postpones what computes', async () => {
    const answer = begin(
      executor,
      '{ a: computed(n: 1) b: computed(n: 2) c: read(n: 3) d: read(n: 4) }',
    );
    expect(began).not.toContain('computed 2');
    expect(began).toEqual(expect.arrayContaining(['read 3', 'read 4']));
    expect((await answer).data).toEqual({ a: 1, b: 2, c: 3, d: 4 });
    expect(began).toContain('computed 2');
  });

  test.each([
    '{ a: computed(n: 1) b: computed(n: 2) }',
    '{ a: computed(n: 1) list { b: computed(n: 2) } }',
  ])('stops once its client has left: %s', async (text) => {
    const client = new AbortController();
    const answer = begin(executor, text, client.signal);
    const before = began.length;
    client.abort();
    const { data, errors } = await answer;
    expect(data).toBeNull();
    expect(errors?.[0]?.message).toBe('Its client has left.');
    expect(began.length).toBe(before);
    // Nor is it begun by whoever left before.
    expect((await begin(executor, text, client.signal)).data).toBeNull();
  });
});
