import type { Plugin } from '@envelop/core';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
} from 'graphql';

const circle: Record<string, unknown> = {};
circle.self = circle;

const fail = (): never => {
  throw new Error('forgotten');
};

function forget(): void {
  void Promise.reject(new Error('forgotten'));
  setTimeout(fail, 1);
}

function nameOf({ definitions: [first] }: DocumentNode): string {
  return (first?.kind === Kind.OPERATION_DEFINITION && first.name?.value) || '';
}

const refusal = () =>
  new GraphQLError('no', { extensions: { code: 'FORBIDDEN', details: circle } });

/** A plugin with the mistakes that teams make: the name of an operation says which of them it meets. */
const plugin: Plugin = {
  onParse:
    () =>
    ({ result }) => {
      if (nameOf(result as DocumentNode) === 'Unparsed') throw refusal();
    },
  onExecute({ args, executeFn, setExecuteFn }) {
    const name = nameOf(args.document);
    if (name === 'Begun') forget();
    if (name === 'Wrapped') {
      setExecuteFn(async (given) => {
        const result = await executeFn(given);
        forget();
        return result;
      });
    }
    return {
      onExecuteDone({ result, setResult }) {
        if (name === 'Done') forget();
        if (name === 'Written') {
          const toJSON = () => {
            void fetch('http://127.0.0.1:1');
            return {};
          };
          setResult({ ...result, extensions: { toJSON } } as never);
        }
        if (name === 'Circular') setResult({ ...result, extensions: circle } as never);
        if (name === 'Refused') throw refusal();
      },
    };
  },
  onSubscribe({ args }) {
    if (nameOf(args.document) !== 'Followed') return;
    return {
      onSubscribeResult({ result, setResult }) {
        const events = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
        const next = () => {
          void fetch('http://127.0.0.1:1');
          return events.next();
        };
        setResult({ [Symbol.asyncIterator]: () => ({ ...events, next }) } as never);
      },
    };
  },
  onSchemaChange({ schema }) {
    const session = fieldOf(schema, 'Query', 'session');
    const { resolve } = session;
    session.resolve = (source, args, context, info) => {
      if (info.operation.name?.value === 'Resolved') forget();
      return resolve?.(source, args, context, info);
    };
    fieldOf(schema, 'OrderAccepted', 'orders').resolve = () => {
      throw refusal();
    };
  },
};

function fieldOf(schema: GraphQLSchema, type: string, name: string) {
  const field = (schema.getType(type) as GraphQLObjectType).getFields()[name];
  if (field === undefined) throw new Error(`${type} has no ${name}`);
  return field;
}

/** A hook of HTTP. */
const ofHttp = {
  onResponse({ request }: { readonly request: Request }) {
    if (request.headers.get('x-request-id') === 'forget') forget();
  },
};

export default [plugin, ...(process.env.HTTP_HOOKS ? [ofHttp] : [])];
