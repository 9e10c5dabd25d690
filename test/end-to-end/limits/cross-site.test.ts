import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { codesOf, TRANSPORTS } from './every-transport.ts';

const STRANGER = 'https://evil.example';
const WRITE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';

let app: TestApp;
let authorization: string;

beforeAll(async () => {
  app = await startTestApp({ CORS_ORIGINS: 'https://app.example.com' });
  authorization = `Bearer ${app.sandbox.token({ email: 'demo@example.com' })}`;
});
afterAll(() => app.close());

describe('what a page of another site may send without a preflight', () => {
  test.each([
    ['application/x-www-form-urlencoded', new URLSearchParams({ query: WRITE }).toString()],
    ['text/plain', JSON.stringify({ query: WRITE })],
    ['text/plain;charset=utf-8', JSON.stringify({ query: WRITE })],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n{ __typename }\r\n--x--',
    ],
    ['application/graphql', WRITE],
    ['application/json-patch+json', JSON.stringify({ query: WRITE })],
    ['', JSON.stringify({ query: WRITE })],
  ])('as %s is refused', async (type, body) => {
    app.sandbox.clearCalls();
    const answer = await rawRequest(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization, origin: STRANGER, ...(type && { 'content-type': type }) },
      body,
    });
    expect(answer.status).toBe(415);
    expect(codesOf(JSON.parse(answer.text))).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect(app.sandbox.calls()).toBe(0);
  });

  test('by GET changes nothing', async () => {
    app.sandbox.clearCalls();
    for (const accept of ['*/*', 'application/json', 'text/event-stream']) {
      const answer = await rawRequest(`${app.url}/graphql?query=${encodeURIComponent(WRITE)}`, {
        headers: { authorization, origin: STRANGER, accept },
      });
      if (accept !== 'text/event-stream') expect(answer.status).toBe(405);
      expect(answer.text).toContain('BAD_USER_INPUT');
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  test('by GET is answered without letting the page read it', async () => {
    const answer = await rawRequest(`${app.url}/graphql?query={__typename}`, {
      headers: { origin: STRANGER },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('is refused by the preflight where it is no simple request', async () => {
    const preflight = await rawRequest(`${app.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: STRANGER,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, authorization',
      },
    });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    expect(preflight.headers['access-control-allow-headers']).toBeUndefined();
  });
});

describe('in production', () => {
  let production: TestApp;

  beforeAll(async () => {
    production = await startTestApp({
      NODE_ENV: 'production',
      SANDBOX: 'on',
      INTROSPECTION: 'off',
      GRAPHIQL: 'off',
    });
  });
  afterAll(() => production.close());

  test.each(TRANSPORTS)(
    'no suggestion helps to guess the schema, by %s',
    async (_transport, ask) => {
      for (const query of [
        '{ positons { id } }',
        '{ positions { symbl } }',
        '{ instruments(frist: 1) { totalCount } }',
        '{ instruments(orderBy: { by: SYMBL }) { totalCount } }',
        '{ ... on Querry { __typename } }',
        'query ($o: InstrumentOrdr) { instruments(orderBy: $o) { totalCount } }',
      ]) {
        const answer = await ask(production, { query });
        expect(codesOf(answer)).toContain('GRAPHQL_VALIDATION_FAILED');
        expect(JSON.stringify(answer)).not.toMatch(/did you mean/i);
      }
      const variables = { o: { by: 'SYMBL' } };
      const query = 'query ($o: InstrumentOrder) { instruments(orderBy: $o) { totalCount } }';
      const answer = await ask(production, { query, variables });
      expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
      expect(JSON.stringify(answer)).not.toMatch(/did you mean/i);
    },
  );

  test.each(TRANSPORTS)('introspection is refused, by %s', async (_transport, ask) => {
    for (const query of ['{ __schema { types { name } } }', '{ __type(name: "Query") { name } }']) {
      const answer = await ask(production, { query });
      expect(answer.data).toBeUndefined();
      expect(codesOf(answer)).toContain('GRAPHQL_VALIDATION_FAILED');
    }
    expect((await fetch(`${production.url}/schema.graphql`)).status).toBe(404);
  });

  test('no error contains a stack, a file or a host', async () => {
    const token = production.sandbox.token({ email: 'demo@example.com' });
    production.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before' });
    production.sandbox.fail({ operation: 'getWithdrawalMethods', kind: 'garbage' });
    const answers = await Promise.all([
      production.query('{ customerId withdrawalMethods { id } }', { token }),
      production.query('{ session { balance } }', { token: 'nonsense' }),
      production.query('{'),
    ]);
    expect(answers.every(({ errors }) => errors.length > 0)).toBe(true);
    for (const { errors } of answers) {
      expect(JSON.stringify(errors)).not.toMatch(/stack|node_modules|\.ts|127\.0\.0\.1|localhost/);
    }
  });
});
