import {
  type GraphQLFieldConfig,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  validateExecutionArgs,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { COSTLY_FIELDS } from '../../../src/plugins/cost/meter.ts';
import { Metering } from '../../../src/plugins/cost/metering.ts';
import { Selections } from '../../../src/plugins/documents/selections.ts';
import { CompiledCodeCache } from '../../../src/plugins/execution/compiled-code.ts';
import { CompilingExecutor } from '../../../src/plugins/execution/compiling-executor.ts';
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

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: { computed: { ...field('computed'), ...perGroup }, read: field('read') },
  }),
});

const document = parse('{ a: computed(n: 1) b: computed(n: 2) c: read(n: 3) d: read(n: 4) }');

describe.each(['compiled code', 'the reference executor'])('in a costly answer %s', (executor) => {
  test('begins every read of the gateway in its first turn, and postpones what computes', async () => {
    began.length = 0;
    const operation = new CompilingExecutor(
      new Metering(schema),
      new Selections(schema, document),
      document.definitions[0] as OperationDefinitionNode,
      new CompiledCodeCache(),
    );
    if (executor === 'compiled code') operation.compile();
    const args = validateExecutionArgs({ schema, document });
    if (!('schema' in args)) throw new Error('the document is wrong');
    // The first field reads the clock for the first time in its turn; for all others the slice is over.
    const meter = meterFor(1_000_000, 0, 0);
    // Costly from the first field on: an answer that is costly before is compiled.
    meter.fields = executor === 'compiled code' ? COSTLY_FIELDS + 1 : COSTLY_FIELDS;
    const answer = operation.execute(args, meter);
    expect(began).not.toContain('computed 2');
    expect(began).toEqual(expect.arrayContaining(['read 3', 'read 4']));
    expect((await answer).data).toEqual({ a: 1, b: 2, c: 3, d: 4 });
    expect(began).toContain('computed 2');
  });
});
