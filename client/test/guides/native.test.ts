import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { readUntil } from '../../../test/support/read-until.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';

// No compiler of Swift runs here, nor Kotlin's with Apollo's libraries. So these tests check the documents, and the order of
// steps in the text of the code.
const examples = join(import.meta.dirname, '..', '..', '..', 'examples');
const read = (...path: readonly string[]) => readFileSync(join(examples, ...path), 'utf8');
const schema = buildSchema(read('..', 'schema.graphql'));

/** The code without its comments, which can contain any name. */
function sources(pattern: string): string {
  const files = globSync(pattern, { cwd: examples }).sort();
  return files.map((file) => read(file).replace(/^\s*(?:\/\/|\/?\*).*\n/gm, '')).join('\n');
}

const text = read('ios', 'graphql', 'operations.graphql');
const document = parse(text);
const operations = document.definitions.flatMap((each) =>
  each.kind === Kind.OPERATION_DEFINITION && each.name
    ? [{ name: each.name.value, kind: each.operation }]
    : [],
);

test('both apps send the same documents, so that one manifest of trusted documents serves both', () => {
  expect(read('android', 'build.gradle.kts')).toContain('srcDir("../ios/graphql")');
});

test('the operations are valid, and select nothing that is deprecated', () => {
  expect(validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule])).toEqual([]);
});

test('the operations of the protocol are valid', () => {
  const page = read('..', 'client', 'vectors', 'README.md').replaceAll('\n  ', ' ');
  const documented = [...page.matchAll(/`((?:mutation|subscription) \(.*?\})`/g)].map(
    ([, one = '']) => one,
  );
  const [, outcome = ''] = /`(\{ __typename \.\.\. on OrderOutcome .*?)`/.exec(page) ?? [];
  const query = `{ placedOrder(idempotencyKey: "1") ${outcome} }`;
  expect(documented).toHaveLength(2);
  for (const one of [...documented, query]) expect(validate(schema, parse(one))).toEqual([]);
});

describe('the service', () => {
  const app = sharedApp();
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
  const VARIABLES: Readonly<Record<string, object>> = {
    SignIn: { input: { email: 'demo@example.com', password: 'demo' } },
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
    // A part is complete when its closing boundary has arrived.
    const isWhole = (parts: string) => /"accountChanges"[\s\S]*\r\n--graphql$/.test(parts);
    expect(await readUntil(answer.body, isWhole)).toContain('"snapshot":true');
  });
});

test.each([['ios/Sources/**/*.swift'], ['android/src/main/kotlin/**/*.kt']])(
  'the code of %s sends an order only after it has checked the network and kept the key, and for the key’s account',
  (pattern) => {
    const code = sources(pattern);
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
  },
);
