import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  isEnumType,
  isInputObjectType,
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

const IOS = {
  name: 'ios',
  operations: read('ios', 'graphql', 'operations.graphql'),
  code: sources('ios/Sources/**/*.swift'),
  label: ':',
  input: 'Api.PlaceOrderInput',
  login: 'Api.LoginInput',
} as const;
const ANDROID = {
  name: 'android',
  operations: read('android', 'src', 'main', 'graphql', 'operations.graphql'),
  code: sources('android/src/main/kotlin/**/*.kt'),
  label: '=',
  input: 'PlaceOrderInput',
  login: 'LoginInput',
} as const;

/** The code without its comments, which may name anything. */
function sources(pattern: string): string {
  const files = globSync(pattern, { cwd: examples }).sort();
  return files.map((file) => read(file).replace(/^\s*(?:\/\/|\/?\*).*\n/gm, '')).join('\n');
}

function operationsOf(document: DocumentNode) {
  return document.definitions.flatMap((each) =>
    each.kind === Kind.OPERATION_DEFINITION && each.name
      ? [{ name: each.name.value, kind: each.operation }]
      : [],
  );
}

/** Names under which the models have what is selected: fields, fragments and types of Apollo's generators. */
function namesIn(document: DocumentNode): Set<string> {
  const names = new Set(['fragments']);
  visit(document, {
    Field: ({ name }) => void names.add(name.value),
    FragmentSpread: ({ name }) =>
      void names.add(`${name.value[0]?.toLowerCase()}${name.value.slice(1)}`),
    InlineFragment: ({ typeCondition }) => {
      for (const prefix of ['as', 'on']) names.add(`${prefix}${typeCondition?.name.value}`);
    },
  });
  return names;
}

function inputOf(name: string) {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input`);
  return Object.values(type.getFields());
}

function valuesOf(name: string) {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`${name} is no enum`);
  return type.getValues().map((value) => value.name);
}

/** The text in the parentheses after a call's name. */
function argumentsOf(code: string, call: string): string {
  const from = code.indexOf(`${call}(`) + call.length + 1;
  let depth = 1;
  let to = from;
  for (; depth > 0 && to < code.length; to += 1) {
    if (code[to] === '(') depth += 1;
    if (code[to] === ')') depth -= 1;
  }
  return code.slice(from, to - 1);
}

/** The labels of a call's own arguments, in their order. */
function labelsOf(code: string, call: string, sign: ':' | '='): string[] {
  let own = argumentsOf(code, call);
  for (let before = ''; before !== own; ) {
    before = own;
    own = own.replace(/\([^()]*\)/g, '');
  }
  return [...own.matchAll(new RegExp(`(\\w+)\\s*${sign}`, 'g'))].map(([, label]) => label ?? '');
}

test('both send the same documents, so that one manifest of trusted documents serves both', () => {
  expect(ANDROID.operations).toBe(IOS.operations);
});

test('the operations are valid, and select nothing that is deprecated', () => {
  const rules = [...specifiedRules, NoDeprecatedCustomRule];
  expect(validate(schema, parse(IOS.operations), rules)).toEqual([]);
});

describe('the service', () => {
  const app = sharedApp();
  const input = {
    ...{
      symbol: 'AAPL',
      side: 'BUY',
      kind: 'MARKET',
      size: { units: 1 },
      idempotencyKey: 'native',
    },
  };
  const VARIABLES: Readonly<Record<string, object>> = {
    SignIn: { input: { email: 'demo@example.com', password: 'demo' } },
    Catalog: { search: 'apple', after: null },
    Place: { input },
    Void: { key: 'native', since: new Date().toISOString() },
  };
  const ask = async (operationName: string, accept: string) => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    return fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, accept },
      body: JSON.stringify({
        query: IOS.operations,
        operationName,
        variables: VARIABLES[operationName],
      }),
    });
  };

  test.each(operationsOf(parse(IOS.operations)).filter(({ kind }) => kind !== 'subscription'))(
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
    const isWhole = (text: string) => /"accountChanges"[\s\S]*\r\n--graphql$/.test(text);
    const text = await readUntil(answer.body, isWhole);
    expect(text).toContain('"snapshot":true');
  });
});

describe.each([IOS, ANDROID])(
  'the code of examples/$name',
  ({ code, label, input, login, name }) => {
    const document = parse(IOS.operations);

    test('uses the models of its operations alone, and all of them', () => {
      const models = new Set(code.match(/\b(?!GraphQL)[A-Z]\w+(?:Subscription|Mutation|Query)\b/g));
      const made = operationsOf(document).map(
        (each) => `${each.name}${each.kind[0]?.toUpperCase()}${each.kind.slice(1)}`,
      );
      expect([...models].toSorted()).toEqual(made.toSorted());
    });

    test('reads what is selected', () => {
      const names = namesIn(document);
      const paths = code.matchAll(
        /\b(?:event|page|outcome|rejected|fragments|map \{ it)((?:\??\.\w+)+)/g,
      );
      const own = new Set(['map', 'upserted', 'toSet', 'orEmpty', 'append']);
      const fields = [...paths].flatMap(([, path = '']) => path.match(/\w+/g) ?? []);
      expect(fields.length).toBeGreaterThan(15);
      expect(fields.filter((field) => !names.has(field) && !own.has(field))).toEqual([]);
    });

    test('passes each field that an input requires, and no other than those of the schema', () => {
      for (const [call, type] of [
        [input, 'PlaceOrderInput'],
        [login, 'LoginInput'],
      ] as const) {
        const fields = inputOf(type);
        const labels = labelsOf(code, call, label);
        const known = fields.map((field) => field.name).filter((field) => labels.includes(field));
        // Swift takes labels in the schema's order alone.
        expect(name === 'ios' ? labels : labels.toSorted()).toEqual(known);
        const required = fields.filter(isRequiredInputField).map((field) => field.name);
        expect(labels).toEqual(expect.arrayContaining(required));
      }
      const [, size] = /(?:size: \.|OrderSize\()(\w+)/.exec(code) ?? [];
      expect(inputOf('OrderSize').map((field) => field.name)).toContain(size);
      const [, kind] =
        /kind(?:: \.some\(\.case\(\.| = Optional\.present\(PlaceOrderKind\.)(\w+)/.exec(code) ?? [];
      expect(valuesOf('PlaceOrderKind')).toContain(kind?.toUpperCase());
    });

    test('compares with codes that the server has', () => {
      const codes = [...code.matchAll(/(?:code|error) == "([A-Z_]+)"/g)].map(
        ([, word = '']) => word,
      );
      const expired = 'EXPIRED';
      expect(codes.toSorted()).toEqual([expired, 'IDEMPOTENCY_UNAVAILABLE', 'UNAUTHENTICATED']);
      for (const each of codes) if (each !== expired) expect(ERROR_CODES).toHaveProperty(each);
      // Apollo iOS tells no close code: there the last event of the stream has the error.
      const closings = [...code.matchAll(/\bcode == (\d+)/g)].map(([, number]) => Number(number));
      expect(closings).toEqual(name === 'ios' ? [] : [CloseCode.Forbidden]);
    });

    test('takes a line for dead ten seconds after the heartbeat that it asks for', () => {
      const [, heartbeat] = /heartbeatSeconds: (\d+)/.exec(IOS.operations) ?? [];
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
  },
);

test('both are written for the newest major of their library', () => {
  expect(read('ios', 'Package.swift')).toMatch(/apollo-ios", exact: "2\.\d+\.\d+"/);
  const gradle = read('android', 'build.gradle.kts');
  const versions = [
    ...gradle.matchAll(/com\.apollographql\.apollo\S*?[":]\)?(?: version ")?(5\.\d+\.\d+)"/g),
  ];
  expect(new Set(versions.map(([, version]) => version)).size).toBe(1);
  expect(versions).toHaveLength(2);
});
