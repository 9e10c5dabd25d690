import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  isRequiredInputField,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { CloseCode } from 'graphql-ws';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/schema/error-codes.ts';
import { readUntil } from '../../../test/support/read-until.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';

// No compiler of Swift, and none of Kotlin with Apollo's libraries, runs here; what the code takes of the service is checked all the same.
const examples = join(import.meta.dirname, '..', '..', '..', 'examples');
const read = (...path: readonly string[]) => readFileSync(join(examples, ...path), 'utf8');
const schema = buildSchema(read('..', 'schema.graphql'));

/** The code without its comments, which may name anything. */
function sources(pattern: string): string {
  const files = globSync(pattern, { cwd: examples }).sort();
  return files.map((file) => read(file).replace(/^\s*(?:\/\/|\/?\*).*\n/gm, '')).join('\n');
}

const CODE = {
  ios: sources('ios/Sources/**/*.swift'),
  android: sources('android/src/main/kotlin/**/*.kt'),
};
const text = read('ios', 'graphql', 'operations.graphql');
const document = parse(text);
const operations = document.definitions.flatMap((each) =>
  each.kind === Kind.OPERATION_DEFINITION && each.name
    ? [{ name: each.name.value, kind: each.operation }]
    : [],
);

/** Names under which the models have what is selected: fields, fragments and types of Apollo's generators. */
const selected = new Set(['fragments']);
visit(document, {
  Field: ({ name }) => void selected.add(name.value),
  FragmentSpread: ({ name }) =>
    void selected.add(`${name.value[0]?.toLowerCase()}${name.value.slice(1)}`),
  InlineFragment: ({ typeCondition }) => {
    for (const prefix of ['as', 'on']) selected.add(`${prefix}${typeCondition?.name.value}`);
  },
});

const inputOf = (name: string) => (schema.getType(name) as GraphQLInputObjectType).getFields();

test('both send the same documents, so that one manifest of trusted documents serves both', () => {
  expect(read('android', 'src', 'main', 'graphql', 'operations.graphql')).toBe(text);
});

test('the operations are valid, and select nothing that is deprecated', () => {
  expect(validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule])).toEqual([]);
});

describe('the service', () => {
  const app = sharedApp();
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
  const VARIABLES: Readonly<Record<string, object>> = {
    SignIn: { input: { email: 'demo@example.com', password: 'demo' } },
    Catalog: { search: 'apple', after: null },
    Place: { input: { ...order, idempotencyKey: 'native' } },
    Void: { key: 'native', since: new Date().toISOString() },
  };
  const ask = async (operationName: string, accept: string) => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    return fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, accept },
      body: JSON.stringify({ query: text, operationName, variables: VARIABLES[operationName] }),
    });
  };

  test.each(operations.filter(({ kind }) => kind !== 'subscription'))(
    'answers $name without an error',
    async ({ name }) => {
      const accept = 'multipart/mixed;deferSpec=20220824,application/graphql-response+json';
      const answer = await ask(name, accept);
      expect(await answer.json()).toEqual({
        data: expect.anything(),
        extensions: expect.anything(),
      });
    },
  );

  test('answers the subscription in parts that Apollo iOS can read at once', async () => {
    const answer = await ask(
      'Account',
      'multipart/mixed;subscriptionSpec=1.0,application/graphql-response+json,application/json',
    );
    expect(answer.headers.get('content-type')).toContain('boundary="graphql"');
    // A part is taken when the boundary behind it has come.
    const isWhole = (parts: string) => /"accountChanges"[\s\S]*\r\n--graphql$/.test(parts);
    expect(await readUntil(answer.body, isWhole)).toContain('"snapshot":true');
  });
});

describe.each(['ios', 'android'] as const)('the code of examples/%s', (name) => {
  const code = CODE[name];

  test('uses the models of its operations alone, and all of them', () => {
    const models = new Set(code.match(/\b(?!GraphQL)[A-Z]\w+(?:Subscription|Mutation|Query)\b/g));
    const made = operations.map(
      (each) => `${each.name}${each.kind[0]?.toUpperCase()}${each.kind.slice(1)}`,
    );
    expect([...models].toSorted()).toEqual(made.toSorted());
  });

  test('reads what is selected', () => {
    const paths = code.matchAll(
      /\b(?:event|page|outcome|rejected|fragments|map \{ it)((?:\??\.\w+)+)/g,
    );
    const own = new Set(['map', 'upserted', 'toSet', 'orEmpty', 'append']);
    const fields = [...paths].flatMap(([, path = '']) => path.match(/\w+/g) ?? []);
    expect(fields.length).toBeGreaterThan(15);
    expect(fields.filter((field) => !selected.has(field) && !own.has(field))).toEqual([]);
  });

  test.each(['PlaceOrderInput', 'LoginInput'])(
    'passes each field that %s requires, and no other than those of the schema',
    (type) => {
      const [, given = ''] = new RegExp(`${type}\\(([\\s\\S]*?)\\)\\n`).exec(code) ?? [];
      // Of the call itself: those of calls within it follow a parenthesis.
      const labels = [...given.matchAll(/(?<![(\w])(\w+)(?:: | = )/g)].map(
        ([, label = '']) => label,
      );
      const fields = Object.values(inputOf(type));
      const known = fields.map((field) => field.name).filter((field) => labels.includes(field));
      // Swift takes labels in the schema's order alone.
      expect(name === 'ios' ? labels : labels.toSorted()).toEqual(known);
      const required = fields.filter(isRequiredInputField).map((field) => field.name);
      expect(labels).toEqual(expect.arrayContaining(required));
    },
  );

  test('names a size, a kind and codes that the server has', () => {
    const [, size = ''] = /(?:size: \.|OrderSize\()(\w+)/.exec(code) ?? [];
    expect(inputOf('OrderSize')).toHaveProperty(size);
    const [, kind = ''] =
      /kind(?:: \.some\(\.case\(\.| = Optional\.present\(PlaceOrderKind\.)(\w+)/.exec(code) ?? [];
    const kinds = schema.getType('PlaceOrderKind') as GraphQLEnumType;
    expect(kinds.getValue(kind.toUpperCase())).toBeDefined();
    const codes = [...code.matchAll(/(?:code|error) == "([A-Z_]+)"/g)].map(([, word]) => word);
    const [expired, ...others] = codes.toSorted();
    expect([expired, ...others]).toEqual(['EXPIRED', 'IDEMPOTENCY_UNAVAILABLE', 'UNAUTHENTICATED']);
    for (const each of others) expect(ERROR_CODES).toHaveProperty(String(each));
    // Apollo iOS tells no close code: there the last event of the stream has the error.
    const closings = [...code.matchAll(/\bcode == (\d+)/g)].map(([, number]) => Number(number));
    expect(closings).toEqual(name === 'ios' ? [] : [CloseCode.Forbidden]);
  });

  test('takes a line for dead ten seconds after the heartbeat that it asks for', () => {
    const [, heartbeat] = /heartbeatSeconds: (\d+)/.exec(text) ?? [];
    const [, silence] =
      /(?:requestTimeout: |\.timeout\()(\d+)(?:, writeResultsToCache: false\)\n {6}\)|\.seconds)/.exec(
        code,
      ) ?? [];
    expect(Number(silence)).toBe(Number(heartbeat) + 10);
  });

  test('asks for the network, keeps the key, and only then sends an order, as its own account', () => {
    const steps = [
      /network\.isOnline\)? (?:else \{ )?throw Offline/,
      /\bkeep\(kept\)/,
      /PlaceMutation\(/,
    ];
    const places = steps.map((step) => code.search(step));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const orders = code.match(/\.(?:ask|mutation)\(.*(?:Place|Void)Mutation\(.*/g) ?? [];
    expect(orders).toHaveLength(2);
    for (const order of orders) expect(order).toMatch(/(?:of:|email =) kept\.account/);
  });
});
