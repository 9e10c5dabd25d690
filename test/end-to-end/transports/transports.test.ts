import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp();
const MAX_BYTES = 4_000;

/** Documents whose errors would have many locations. */
const MANY_LOCATIONS = {
  'an argument that is repeated': `{ instruments(${'first: 1 '.repeat(200)}) { totalCount } }`,
  'fields that conflict': `{ ${'a: __typename '.repeat(20)} a: customerId }`,
  'fields that fail': `{ ${'customerId '.repeat(140)} }`,
  'a subscription that does not start': `subscription { ${'positions { id } '.repeat(100)} }`,
};

describe.each(TRANSPORTS)('%s', (transport, ask) => {
  const demo = () => app.sandbox.token({ email: 'demo@example.com' });

  test('answers the successful fields, and has the same error for a failed field', async () => {
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 403, times: 1 });
    const { data, errors } = await ask(app, { query: '{ customerId session { login } }' }, demo());
    expect(data).toEqual({ customerId: null, session: { login: '700001' } });
    expect(errors).toEqual([
      {
        message: 'The gateway does not allow this.',
        locations: [{ line: 1, column: 3 }],
        path: ['customerId'],
        extensions: {
          code: 'FORBIDDEN',
          retryable: false,
          operation: 'getCustomerId',
          gatewayError: { error: 'FORBIDDEN', message: 'A fault was set in the sandbox.' },
        },
      },
    ]);
  });

  test('gives an error at most three locations, so that errors stay small', async () => {
    const locationCounts = async (query: string, operationName?: string) => {
      const answer = await ask(app, { query, ...(operationName && { operationName }) });
      expect(JSON.stringify(answer).length).toBeLessThan(MAX_BYTES);
      const errors = (answer.errors ?? []) as readonly { locations?: readonly unknown[] }[];
      return errors.map(({ locations = [] }) => locations.length);
    };
    const hasEvents = transport === 'event stream' || transport === 'WebSocket';
    for (const [what, query] of Object.entries(MANY_LOCATIONS)) {
      if (query.startsWith('subscription') && !hasEvents) continue;
      const counts = await locationCounts(query);
      expect(Math.min(...counts), what).toBeGreaterThan(0);
      expect(Math.max(...counts), what).toBeLessThanOrEqual(3);
    }
    // An answer has at most ten errors.
    const operations = Array.from({ length: 50 }, (_, index) => `query Q${index} { nope${index} }`);
    expect(await locationCounts(operations.join(' '), 'Q7')).toEqual(Array(10).fill(1));
  });
});

const MISSPELT_FIELD = { query: '{ positons { id } }' };
const MISSPELT_VALUE = {
  query: 'query ($by: InstrumentOrderBy!) { instruments(orderBy: { by: $by }) { totalCount } }',
  variables: { by: 'SYMBOLL' },
};

test.each([
  ['the sandbox', {}, true],
  ['the sandbox', { GRAPHIQL: 'off' }, false],
  ['the sandbox', { NODE_ENV: 'production', SANDBOX: 'on', GRAPHIQL: 'on' }, true],
  ['a real gateway', {}, false],
  ['a real gateway', { NODE_ENV: 'development' }, false],
] as const)(
  'with %s and %j the service makes suggestions and answers introspection: %s',
  async (which, environment, expected) => {
    await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
    const options = which === 'the sandbox' ? {} : { gateway };
    await using app = await startTestApp(environment, options);
    for (const [transport, ask] of TRANSPORTS) {
      for (const asked of [MISSPELT_FIELD, MISSPELT_VALUE]) {
        const { errors = [] } = await ask(app, asked);
        expect(errors, transport).toHaveLength(1);
        const helps = /Did you mean|enum: \w+, \w+/.test(errors[0]?.message ?? '');
        expect(helps, transport).toBe(expected);
      }
      const { data } = await ask(app, { query: '{ __schema { queryType { name } } }' });
      expect(data !== undefined, transport).toBe(expected);
    }
  },
);
