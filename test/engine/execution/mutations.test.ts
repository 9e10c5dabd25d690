import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Documents } from '../../../engine/documents/documents.ts';
import { meterFor } from './both-executors.ts';

/** The calls of each field's resolver, in order. */
type Diary = string[];

const step = { type: new GraphQLNonNull(GraphQLInt), args: { at: { type: GraphQLInt } } };

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { one: { type: GraphQLInt } } }),
  mutation: new GraphQLObjectType<unknown, Diary>({
    name: 'Mutation',
    fields: {
      step: {
        ...step,
        resolve: async (_root, { at }, diary) => {
          diary.push(`begins ${at}`);
          await new Promise(setImmediate);
          diary.push(`ends ${at}`);
          return at;
        },
      },
    },
  }),
});

test('the fields of a mutation run one after the other, however often it is sent', async () => {
  const limits = { maxTokens: 100, maxDepth: 5, maxAliases: 5, maxDirectives: 5 };
  const documents = new Documents({ schema, limits, introspection: false });
  const result = documents.prepare('mutation { a: step(at: 1) b: step(at: 2) c: step(at: 3) }');
  if ('errors' in result) throw result.errors[0];
  const operation = result.operations.get(null);
  for (let time = 0; time < 5; time += 1) {
    const diary: Diary = [];
    const values = { sources: {}, coerced: {} };
    const args = operation?.args.of(diary, values, {});
    const answer = args && (await operation?.executor.execute(args, meterFor()));
    expect(answer).toEqual({ data: { a: 1, b: 2, c: 3 } });
    expect(diary).toEqual([1, 2, 3].flatMap((at) => [`begins ${at}`, `ends ${at}`]));
  }
});
