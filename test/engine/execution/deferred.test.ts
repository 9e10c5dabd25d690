import {
  type ASTNode,
  type DirectiveNode,
  type ExecutionResult,
  GraphQLDeferDirective,
  GraphQLError,
  GraphQLSchema,
  Kind,
  parse,
  print,
  type SelectionNode,
  specifiedDirectives,
  validate,
  visit,
} from 'graphql';
import { expect, test } from 'vitest';
import type { PartResults } from '../../../src/engine/documents/compiler/compiling-executor.ts';
import { Documents } from '../../../src/engine/documents/documents.ts';
import { deferredAnswer } from '../../../src/engine/execution/deferred-answer.ts';
import type { OperationEvents } from '../../../src/engine/operation/result-sink.ts';
import type { PartsFormat } from '../../../src/engine/operation/transport-context.ts';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import { inFull } from '../../support/in-full.ts';
import { randomDocument } from '../../support/random-documents.ts';
import { meterFor } from '../documents/compiler/both-executors.ts';
import { createStage, hostileSchema } from '../documents/compiler/hostile-schema.ts';

/** The number of random documents. */
const DOCUMENTS = inFull(2_000, 300);
const schema = new GraphQLSchema({
  ...hostileSchema.toConfig(),
  directives: [...specifiedDirectives, GraphQLDeferDirective],
});
const limits = { maxTokens: 40_000, maxDepth: 100, maxAliases: 500, maxDirectives: 400 };

// biome-ignore lint/suspicious/noExplicitAny: the shape of an answer depends on its random document
type Data = any;

/** The options of an answer whose parts are sent unchanged. */
const OPTIONS = {
  masked: <Part extends object>(part: Part) => part,
  last: (part: object) => part,
  write: written,
  ended: () => {},
};

test.each([
  ['deferSpec', 0],
  ['incrementalSpec', 0],
  ['deferSpec', 0.02],
] as const)(
  'the parts of %s add up to the answer without parts, with a share of %d wrong values',
  { timeout: 600_000 },
  async (format, hostility) => {
    const documents = new Documents({ schema, limits, introspection: true });
    const random = createRandom(`deferred ${format} ${hostility}`);
    // The answers with several parts, and those of them without errors.
    const seen = { split: 0, compared: 0 };
    for (let index = 0; index < DOCUMENTS; index += 1) {
      const { text: whole, variables } = randomDocument(schema, random, { operation: 'query' });
      const text = withDeferred(whole, random);
      // Skips documents that are refused, and those without a deferred part.
      if (validate(schema, parse(text)).length > 0) continue;
      const prepared = documents.prepare(text);
      if (prepared.kind === 'invalid') continue;
      const [operation] = prepared.operations.values();
      if (!operation || !prepared.deferring) continue;
      const { executor } = operation;
      const given = { variableValues: variables };
      const plain = documents.executionArgs(prepared.document, given);
      const deferring = documents.executionArgs(prepared.deferring, given);
      if (plain.kind === 'refusal' || deferring.kind === 'refusal') continue;
      const contextValue = createStage(random, hostility);
      const expected = await executor.execute({ ...plain.args, contextValue }, meterFor());
      const inParts = { ...deferring.args, contextValue };
      const parts = await executor.executeInParts(inParts, meterFor(), format);
      if (!('initialResult' in parts)) continue;
      const found = await mergeParts(format, deferredAnswer(parts, OPTIONS));
      seen.split += 1;
      if (expected.errors) {
        expect(found.errors.length, text).toBeGreaterThan(0);
        continue;
      }
      seen.compared += 1;
      expect(found.errors, text).toEqual([]);
      expect(sorted(found.data), text).toBe(sorted(JSON.parse(written(expected.data ?? null))));
    }
    // Enough of the documents were valid and had deferred parts.
    expect(seen.split).toBeGreaterThan(DOCUMENTS * 0.3);
    expect(seen.compared).toBeGreaterThan(DOCUMENTS * 0.1);
  },
);

/** Moves some selections of the document, at any depth, into deferred fragments. */
function withDeferred(text: string, random: Random): string {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const deferred = (selection: SelectionNode, index: number): SelectionNode => {
    if (random() < 0.7) return selection;
    const label = { kind: Kind.STRING, value: `${index} ${random()}` } as const;
    const directive: DirectiveNode = {
      kind: Kind.DIRECTIVE,
      name: name('defer'),
      arguments: random() < 0.5 ? [] : [{ kind: Kind.ARGUMENT, name: name('label'), value: label }],
    };
    return {
      kind: Kind.INLINE_FRAGMENT,
      directives: [directive],
      selectionSet: { kind: Kind.SELECTION_SET, selections: [selection] },
    };
  };
  return print(
    visit(parse(text) as ASTNode, {
      SelectionSet: {
        leave: (node) => ({ ...node, selections: node.selections.map(deferred) }),
      },
    }),
  );
}

async function messagesOf(answer: OperationEvents): Promise<Data[]> {
  const messages: Data[] = [];
  const sink = {
    hasRoom: () => true,
    send(text: unknown, taken: () => void) {
      messages.push(JSON.parse(String(text)));
      taken();
    },
  };
  await answer.deliver(sink);
  return messages;
}

/** Merges the messages of an answer by the rules of its format. */
async function mergeParts(format: PartsFormat, answer: OperationEvents) {
  const messages = await messagesOf(answer);
  const [first, ...later] = messages;
  let data: Data = first.data;
  const errors: unknown[] = [...(first.errors ?? [])];
  const pending = new Map<string, Path>();
  const begin = (parts: Data[] = []) => {
    for (const { id, path } of parts) pending.set(id, path);
  };
  begin(first.pending);
  // Every message but the last has `hasNext`.
  const lastIndex = messages.length - 1;
  expect(messages.map(({ hasNext }) => hasNext)).toEqual(
    messages.map((_, index) => index < lastIndex),
  );
  for (const message of later) {
    begin(message.pending);
    for (const part of message.incremental ?? []) {
      const path = format === 'deferSpec' ? part.path : pending.get(part.id);
      expect(path).toBeDefined();
      const place = [...path, ...(part.subPath ?? [])];
      if (part.data != null) data = merged(data, under(place, part.data));
      errors.push(...(part.errors ?? []));
    }
    for (const { id, errors: failed = [] } of message.completed ?? []) {
      expect(pending.delete(id)).toBe(true);
      errors.push(...failed);
    }
  }
  expect(pending.size).toBe(0);
  return { data, errors };
}

type Path = readonly (string | number)[];

/** Returns a tree with only the data at this path. Its lists lack the other items. */
function under([key, ...rest]: Path, data: Data): Data {
  if (key === undefined) return data;
  const inner = under(rest, data);
  if (typeof key === 'string') return { [key]: inner };
  const list: Data[] = [];
  list[key] = inner;
  return list;
}

/** Adds the data of `other` to that of `one`; at a leaf `other` wins. */
function merged(one: Data, other: Data): Data {
  if (one === undefined) return other;
  if (other === undefined) return one;
  if (typeof one !== 'object' || one === null || other === null) return other;
  if (Array.isArray(one)) return one.map((each, index) => merged(each, other[index]));
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  const own = (from: Data, key: string) => (Object.hasOwn(from, key) ? from[key] : undefined);
  return Object.fromEntries([...keys].map((key) => [key, merged(own(one, key), own(other, key))]));
}

/** Writes JSON. A bigint becomes a text, because a scalar of the schema may return one. */
function written(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}n` : each));
}

/** Writes JSON with sorted properties, because the order of properties depends on the order of the parts. */
function sorted(value: Data): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** An answer of the executor with these parts. An `Error` among them makes the executor fail in its place. */
function partsOf(initialResult: object, ...later: readonly (object | Error)[]): PartResults {
  async function* rest() {
    for (const part of later) {
      if (part instanceof Error) throw part;
      yield part;
    }
  }
  return { initialResult, subsequentResults: rest() } as PartResults;
}

test('an answer that fails after its first part ends with the error and `hasNext: false`', async () => {
  const parts = partsOf({ data: { here: 1 }, hasNext: true }, new Error('a fault'));
  const messages = await messagesOf(deferredAnswer(parts, OPTIONS));
  expect(messages).toMatchObject([
    { data: { here: 1 } },
    { errors: [{ message: 'a fault' }], hasNext: false },
  ]);
});

test('each error of a part is masked, and the last part has the extensions', async () => {
  const errors = [new GraphQLError('a secret')];
  const parts = partsOf(
    { data: {}, pending: [{ id: '0', path: [] }], hasNext: true },
    { incremental: [{ id: '0', data: { a: null }, errors }], completed: [], hasNext: true },
    { completed: [{ id: '0', errors }], hasNext: false },
  );
  const masked = <Part extends ExecutionResult | object>(part: Part): Part =>
    'errors' in part ? { ...part, errors: [new GraphQLError('masked')] } : part;
  const last = (part: object) => ({ ...part, extensions: { at: 'the end' } });
  const messages = await messagesOf(deferredAnswer(parts, { ...OPTIONS, masked, last }));
  expect(JSON.stringify(messages)).not.toContain('secret');
  expect(messages.at(-1)).toEqual({
    completed: [{ id: '0', errors: [{ message: 'masked' }] }],
    extensions: { at: 'the end' },
    hasNext: false,
  });
});
