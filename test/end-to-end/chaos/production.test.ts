import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { type Ask, TRANSPORTS } from '../limits/every-transport.ts';

let sandbox: Sandbox;
let app: TestApp;
let token: string;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'production', instruments: 20, tickMs: 0 });
  app = await startTestApp({ NODE_ENV: 'production' }, { gateway: sandbox });
  token = sandbox.token({ email: 'demo@example.com' });
});
afterAll(async () => {
  await app.close();
  await sandbox.close();
});

/** Words of the program, its files, its gateway and its schema that must not leak. */
function expectNothingShown(text: string): void {
  for (const word of ['Did you mean', ' at ', '.ts:', 'node_modules', '127.0.0.1', 'stack']) {
    expect(text).not.toContain(word);
  }
  expect(text).not.toContain(String(sandbox.port));
}

describe.each(TRANSPORTS)('in production, by %s', (_transport, ask) => {
  const answered = async (query: string, by: Ask = ask) => {
    sandbox.clearCalls();
    const answer = await by(app, { query }, token);
    expectNothingShown(JSON.stringify(answer));
    expect(answer.extensions).toBeUndefined();
    return answer;
  };

  test('an error of the gateway has its code and the operation, and no address', async () => {
    sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before' });
    const answer = await answered('{ customerId }');
    sandbox.clearFaults();
    expect(answer.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'GATEWAY_UNAVAILABLE', retryable: true, operation: 'getCustomerId' },
    ]);
  });
});

describe('in production', () => {
  const endpoint = () => `${app.url}/graphql`;
  const QUERY = JSON.stringify({ query: '{ __typename positions { id } }' });

  test('tracing is off, however it is requested', async () => {
    const authorization = `Bearer ${token}`;
    for (const headers of [
      { 'apollo-federation-include-trace': 'ftv1' },
      { 'x-apollo-tracing': '1' },
      { 'apollo-query-plan-experimental': '1' },
      { 'x-debug': '1', 'x-graphql-debug': 'true', debug: 'true' },
    ]) {
      const answer = await rawPost(`${endpoint()}?debug=1&trace=1`, QUERY, {
        authorization,
        ...headers,
      });
      const body = JSON.parse(answer.text);
      expect(Object.keys(body)).toEqual(['data']);
      expectNoServerName(answer);
    }
  });

  test.each([
    '/',
    '/graphiql',
    '/graphiql/0123456789abcdef/graphiql.js',
    '/playground',
    '/altair',
    '/voyager',
    '/console',
    '/graphql/console',
    '/api/graphql',
    '/v1/graphql',
    '/schema.graphql',
    '/metrics',
    '/sandbox/calls',
    '/sandbox/tokens',
    '/.env',
    '/package.json',
    '/src/main.ts',
  ])('%s is not there', async (path) => {
    for (const method of ['GET', 'POST']) {
      const headers = { accept: 'text/html' };
      const answer = await rawRequest(`${app.url}${path}`, { method, headers });
      expect(answer.status).toBe(404);
      expect(answer.text).toBe('{"error":"not found"}');
      expectNoServerName(answer);
    }
  });

  test('a page is not shown at the endpoint itself', async () => {
    const answer = await rawRequest(endpoint(), { headers: { accept: 'text/html' } });
    expect(answer.headers['content-type']).not.toContain('html');
    expectNothingShown(answer.text);
  });

  function expectNoServerName({ headers }: RawAnswer): void {
    expect(headers.server).toBeUndefined();
    expect(headers['x-powered-by']).toBeUndefined();
  }
});
