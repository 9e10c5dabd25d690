import { parse, validate } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { EXAMPLES, type Example } from '../../../graphiql/page/examples.js';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { type GraphQLAnswer, startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { type DocumentTaste, randomDocument } from '../../support/random-documents.ts';
import { sharedApp } from '../../support/shared-app.ts';

const DOCUMENTS = inFull(1_000, 75);

const schema = buildSchema();
const taste: DocumentTaste = {
  maxDepth: 4,
  texts: ['AAPL', 'TSLA', 'aple', '1', 'standard-usd'],
  // These differ a moment later.
  without: new Set(['Catalog.ageSeconds', 'Session.fetchedAt', 'OrderOutcomeUnknown.sentAt']),
  // Or answers made of the catalog alone would be cached, and executed once.
  always: 'viewer: customerId',
};

const app = sharedApp({
  MAX_COST: '100000000',
  MAX_ALIASES: '10000',
  MAX_DIRECTIVES: '10000',
  RATE_LIMIT_PER_MINUTE: '1000000',
});
let token: string;

beforeAll(async () => {
  token = await app.signIn();
});

function shown({ status, data, errors }: GraphQLAnswer): string {
  const sorted = errors
    .map((error) => JSON.stringify({ ...error, extensions: comparable(error) }))
    .sort();
  return JSON.stringify({ status, data, errors: sorted }, null, 1);
}

/** Each request has an id of its own. */
function comparable({ extensions }: GraphQLAnswer['errors'][number]) {
  return { ...extensions, requestId: extensions.requestId && 'an id' };
}

test.each<readonly [string, OperationName | null]>([
  ['where the catalog has never come', 'getAllTickers'],
  ['where all is well', null],
  ['without positions', 'getOpenPositions'],
  ['without a session', 'getSession'],
  ['without withdrawal methods', 'getWithdrawalMethods'],
])(
  '%s, the first answer to a document and the later ones are the same',
  async (_where, failing) => {
    const random = createRandom(`schema ${failing}`);
    // A snapshot that is cached for another case's token would hide the failing session from some answers.
    const token = await app.signIn();
    if (failing) app.sandbox.fail({ operation: failing, kind: 'status', status: 403 });
    const seen = { whole: 0, failed: 0 };
    for (let i = 0; i < DOCUMENTS; i += 1) {
      const { text, variables } = randomDocument(schema, random, taste);
      if (validate(schema, parse(text)).length > 0) continue;
      // By the reference executor, then by compiled code.
      const first = await app.query(text, { token, variables });
      const second = await app.query(text, { token, variables });
      expect(shown(second), `${text}\n${JSON.stringify(variables)}`).toBe(shown(first));
      if (first.status !== 200) continue;
      if (first.errors.length > 0) seen.failed += 1;
      else seen.whole += 1;
    }
    app.sandbox.clearFaults();
    expect(seen.whole).toBeGreaterThan(DOCUMENTS * 0.2);
    if (failing) expect(seen.failed).toBeGreaterThan(DOCUMENTS * 0.2);
  },
  600_000,
);

test('a document as a person writes it is answered alike the first time and the later ones', async () => {
  const examples = EXAMPLES.filter(({ query }) => /^query /m.test(query));
  expect(examples.length).toBeGreaterThan(3);
  const documents = [
    '{ positions { symbol instrument { name positions { id } orders { id kind } } } }',
    '{ a: instrument(id: "AAPL") { id } b: instrument(id: "nope") { id } customerId }',
    '{ session(maxAge: 60) { access { name isHedged } orders { state instrument { digits } } } }',
    '{ placedOrder(idempotencyKey: "none") { ... on OrderOutcome { message } } customerId }',
    '{ instruments(last: 2, orderBy: { by: NAME, direction: DESC }) { edges { cursor } } customerId }',
    '{ instruments(first: 501) { totalCount } customerId }',
    'query ($id: ID = "AAPL") { instrument(id: $id) { id } customerId }',
  ];
  for (const { query, variables = {} } of [
    ...examples,
    ...documents.map((query): Example => ({ query })),
  ]) {
    const answer = async () => shown(await app.query(query, { token, variables }));
    // Again where a second went by in between: some ask for an age.
    await eventually(async () => {
      const first = await answer();
      for (let i = 0; i < 3; i += 1) expect(await answer()).toBe(first);
    });
  }
});

test.each<OperationName>(['getOpenPositions', 'getSession', 'getCustomerId', 'getAllTickers'])(
  'executing again costs no call of the gateway: %s failing',
  async (operation) => {
    await using own = await startTestApp();
    const theirs = own.sandbox.token({ email: 'demo@example.com' });
    const document = `{
      a: positions { id instrument { name } } b: positions { symbol } session { balance positions { id } }
      x: customerId y: customerId catalog { version } instrument(id: "AAPL") { positions { id } }
    }`;
    own.sandbox.fail({ operation, kind: 'status', status: 403 });
    const called: string[][] = [];
    for (let i = 0; i < 4; i += 1) {
      own.sandbox.clearCalls();
      const { errors } = await own.query(document, { token: theirs });
      expect(errors.length).toBeGreaterThan(0);
      called.push(own.sandbox.requests().map(({ path }) => path));
    }
    // The second one is the first that is compiled; the catalog and the session are cached by then, unless op 1 has
    // refused the group: then the session is asked again from the third on.
    for (const paths of called) expect(new Set(paths).size).toBe(paths.length);
    expect([called[1]?.length, called[2]?.length]).toContain(called[3]?.length);
  },
);
