import {
  type ExecutionResult,
  GraphQLDeferDirective,
  GraphQLError,
  GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  specifiedDirectives,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import {
  partsNow,
  splitQuery,
  withoutIncremental,
} from '../../../engine/documents/deferred-parts.ts';
import { Documents, type Executable } from '../../../engine/documents/documents.ts';
import { createExecutors } from '../../../engine/execution/compiling-executor.ts';
import { deferredAnswer } from '../../../engine/execution/deferred-answer.ts';
import type { OperationEvents } from '../../../engine/operation/result-sink.ts';
import type { PartsFormat } from '../../../engine/operation/transport-context.ts';
import { createRandom, type Random } from '../../../sandbox/random.ts';
import { inFull } from '../../support/in-full.ts';
import { randomDocument } from '../../support/random-documents.ts';
import { meterFor } from './both-executors.ts';
import { createStage, hostileSchema } from './hostile-schema.ts';

const DOCUMENTS = inFull(2_000, 300);
const schema = new GraphQLSchema({
  ...hostileSchema.toConfig(),
  directives: [...specifiedDirectives, GraphQLDeferDirective],
});
const limits = { maxTokens: 40_000, maxDepth: 50, maxAliases: 500, maxDirectives: 200 };

// biome-ignore lint/suspicious/noExplicitAny: an answer has whatever its random document asked for
type Data = any;

test.each([
  ['deferSpec', 0],
  ['incrementalSpec', 0],
  ['deferSpec', 0.02],
] as const)(
  'the parts of %s are together the answer in one piece, where %d of the values are wrong',
  { timeout: 600_000 },
  async (format, hostility) => {
    const executors = createExecutors(schema);
    const documents = new Documents({ schema, limits, introspection: true, executors });
    const random = createRandom(`deferred ${format} ${hostility}`);
    const seen = { split: 0, whole: 0 };
    for (let at = 0; at < DOCUMENTS; at += 1) {
      const { text: plain, variables } = randomDocument(schema, random, {
        operation: 'query',
      });
      const text = withDeferred(plain, random);
      if (text === null || validate(schema, parse(text)).length > 0) continue;
      const prepared = documents.prepare(text);
      if (prepared.kind === 'invalid') continue;
      const [operation] = prepared.operations.values();
      if (!operation?.deferral) continue;
      const read = operation.args.read(variables);
      if (read.kind === 'invalid') continue;
      const { rest } = operation.deferral;
      const context = createStage(random, hostility);
      const answer = async ({ args, executor }: Executable): Promise<ExecutionResult> =>
        executor.execute(args.of(context, read.values, variables), meterFor());
      const expected = await answer(operation);
      const now = partsNow(operation.deferral, read.values)?.fragments ?? [];
      const parts = now.map((each) => ({
        label: each.label,
        result: answer(each),
      }));
      const first = rest === null ? Promise.resolve({ data: {} }) : answer(rest);
      const found = await folded(
        format,
        deferredAnswer({ format, first, parts, write: written, ended: () => ({}), failure }),
      );
      seen.split += 1;
      if (expected.errors) {
        expect(found.errors.length, text).toBeGreaterThan(0);
        continue;
      }
      seen.whole += 1;
      expect(found.errors, text).toEqual([]);
      expect(sorted(found.data), text).toBe(sorted(JSON.parse(written(expected.data ?? null))));
    }
    expect(seen.split).toBeGreaterThan(DOCUMENTS * 0.4);
    expect(seen.whole).toBeGreaterThan(DOCUMENTS * 0.2);
  },
);

const failure = (error: unknown): never => {
  throw error;
};

/** The document with some fields of its root in fragments that are deferred; null where the root has one field. */
function withDeferred(text: string, random: Random): string | null {
  const document = parse(text);
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return print(definition);
    const { selections } = definition.selectionSet;
    const shownSelections = selections.map((selection) => {
      const inner = print(selection);
      if (random() < 0.4) return inner;
      const label = random() < 0.5 ? '' : `(label: "${inner.length} ${random()}")`;
      return `... @defer${label} { ${inner} }`;
    });
    const whole = print({
      ...definition,
      selectionSet: {
        ...definition.selectionSet,
        selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'HERE' } }],
      },
    });
    return whole.replace('HERE', shownSelections.join('\n'));
  });
  return definitions.join('\n');
}

async function messagesOf(answer: OperationEvents): Promise<Data[]> {
  const messages: Data[] = [];
  const sink = {
    hasRoom: () => true,
    send(text: unknown, left: () => void) {
      messages.push(JSON.parse(String(text)));
      left();
    },
  };
  await answer.deliver(sink).next();
  return messages;
}

/** The messages of an answer, folded as its format says. */
async function folded(format: PartsFormat, answer: OperationEvents) {
  const messages = await messagesOf(answer);
  const [first, ...later] = messages;
  let data: Data = first.data;
  const errors: unknown[] = [...(first.errors ?? [])];
  const pending = new Set((first.pending ?? []).map(({ id }: Data) => id));
  expect(messages.map(({ hasNext }) => hasNext)).toEqual(
    messages.map((_, at) => at < messages.length - 1),
  );
  for (const { incremental = [], completed = [] } of later) {
    for (const part of incremental) {
      if (format === 'deferSpec') expect(part.path).toEqual([]);
      else expect(pending.has(part.id)).toBe(true);
      data = merged(data, part.data);
      errors.push(...(part.errors ?? []));
    }
    for (const { id, errors: failed = [] } of completed) {
      expect(pending.delete(id)).toBe(true);
      errors.push(...failed);
    }
  }
  expect(pending.size).toBe(0);
  return { data, errors };
}

function merged(one: Data, other: Data): Data {
  if (one === undefined) return other;
  if (other === undefined) return one;
  if (typeof one !== 'object' || one === null || other === null) return other;
  if (Array.isArray(one)) return one.map((each, at) => merged(each, other[at]));
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  const own = (from: Data, key: string) => (Object.hasOwn(from, key) ? from[key] : undefined);
  return Object.fromEntries([...keys].map((key) => [key, merged(own(one, key), own(other, key))]));
}

/** A scalar of the schema lets through what JSON cannot carry. */
function written(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}n` : each));
}

/** JSON without regard to the order of properties, which is that of the parts. */
function sorted(value: Data): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

test('an answer whose part rejects ends with that failure, and says that nothing more comes', async () => {
  const lost = Promise.withResolvers<ExecutionResult>();
  const answer = deferredAnswer({
    format: 'deferSpec',
    first: Promise.resolve({ data: { here: 1 } }),
    parts: [{ label: null, result: lost.promise }],
    write: written,
    ended: () => ({}),
    failure: () => ({ errors: [new GraphQLError('lost')] }),
  });
  const coming = messagesOf(answer);
  lost.reject(new Error('a fault'));
  const messages = await coming;
  expect(messages.at(-1)).toMatchObject({ errors: [{ message: 'lost' }], hasNext: false });
});

test('parts that are whole when their reader takes the next message share it', async () => {
  const result = Promise.resolve({ data: { there: 2 } });
  const first = Promise.withResolvers<ExecutionResult>();
  const coming = messagesOf(
    deferredAnswer({
      format: 'incrementalSpec',
      first: first.promise,
      parts: ['one', 'other'].map((label) => ({ label, result })),
      write: written,
      ended: () => ({ extensions: { at: 'the end' } }),
      failure,
    }),
  );
  await result;
  first.resolve({ data: { here: 1 } });
  expect(await coming).toEqual([
    {
      data: { here: 1 },
      pending: [
        { id: '0', path: [], label: 'one' },
        { id: '1', path: [], label: 'other' },
      ],
      hasNext: true,
    },
    {
      incremental: ['0', '1'].map((id) => ({ id, data: { there: 2 } })),
      completed: [{ id: '0' }, { id: '1' }],
      extensions: { at: 'the end' },
      hasNext: false,
    },
  ]);
});

test.each([
  ['deferSpec', { incremental: [{ data: null, errors: ['failed'], path: [] }] }],
  ['incrementalSpec', { completed: [{ id: '0', errors: ['failed'] }] }],
] as const)(
  'a part of %s whose errors would take away what was shown fails',
  async (format, last) => {
    const failed = { errors: ['failed' as unknown as GraphQLError] };
    const parts = [{ card: { at: [{ risk: null }] } }, { card: { at: [null] } }];
    const messages = parts.map((data) =>
      messagesOf(
        deferredAnswer({
          format,
          first: Promise.resolve({ data: { card: { at: [{ name: 'shown' }] } } }),
          parts: [{ label: null, result: Promise.resolve({ data, ...failed }) }],
          write: written,
          ended: () => ({}),
          failure,
        }),
      ),
    );
    const [beside, above] = await Promise.all(messages);
    expect(beside?.at(-1).incremental).toMatchObject([{ data: parts[0], ...failed }]);
    expect(above?.at(-1)).toEqual({ ...last, hasNext: false });
  },
);

test('a mutation is never split, since its writes run one after the other', () => {
  const split = (operation: string) => {
    const document = parse(`${operation} { here ... @defer { there } }`);
    const [[original], [plain]] = [document, withoutIncremental(document)].map(
      ({ definitions }) => definitions as readonly OperationDefinitionNode[],
    ) as [OperationDefinitionNode[], OperationDefinitionNode[]];
    return original && plain && splitQuery(original, plain);
  };
  expect([split('mutation'), split('subscription')]).toEqual([null, null]);
  expect(split('query')).toMatchObject({ rest: {}, fragments: [{ label: null }] });
});
