import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const sandbox = startedOnce(() => startSandbox({ seed: 'production', instruments: 20, tickMs: 0 }));
const app = sharedApp({ NODE_ENV: 'production' }, { gateway: sandbox });
let token: string;
beforeAll(() => {
  token = sandbox.token({ email: 'demo@example.com' });
});

/** Words of the program, its files, its gateway and its schema that must not leak. */
function expectNothingShown(text: string): void {
  for (const word of ['Did you mean', ' at ', '.ts:', 'node_modules', '127.0.0.1', 'stack']) {
    expect(text).not.toContain(word);
  }
  expect(text).not.toContain(String(sandbox.port));
}

test.each(TRANSPORTS)(
  'in production, by %s, an error of the gateway has its code and the operation, and no address',
  async (_transport, ask) => {
    sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before' });
    const answer = await ask(app, { query: '{ customerId }' }, token);
    sandbox.clearFaults();
    expectNothingShown(JSON.stringify(answer));
    expect(answer.extensions).toBeUndefined();
    expect(answer.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'GATEWAY_UNAVAILABLE', retryable: true, operation: 'getCustomerId' },
    ]);
  },
);

describe('in production', () => {
  test.each([
    '/',
    '/graphiql',
    '/graphiql/0123456789abcdef/graphiql.js',
    '/schema.graphql',
    '/metrics',
    '/sandbox/calls',
    '/sandbox/tokens',
    '/.env',
    '/src/main.ts',
  ])('%s is not there', async (path) => {
    for (const method of ['GET', 'POST']) {
      const headers = { accept: 'text/html' };
      const answer = await rawRequest(`${app.url}${path}`, { method, headers });
      expect(answer.status).toBe(404);
      expect(answer.text).toBe('{"error":"not found"}');
      expect(answer.headers).not.toHaveProperty('server');
      expect(answer.headers).not.toHaveProperty('x-powered-by');
    }
  });

  test('a page is not shown at the endpoint itself', async () => {
    const answer = await rawRequest(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(answer.headers['content-type']).not.toContain('html');
    expectNothingShown(answer.text);
  });
});
