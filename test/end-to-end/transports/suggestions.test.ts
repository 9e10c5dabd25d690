import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const NEARLY_A_FIELD = { query: '{ positons { id } }' };
const NEARLY_A_VALUE = {
  query: 'query ($by: InstrumentOrderBy!) { instruments(orderBy: { by: $by }) { totalCount } }',
  variables: { by: 'SYMBOLL' },
};

test.each([
  ['come with the sandbox gateway, whose schema is open', {}, true],
  ['stay away where introspection is off', { INTROSPECTION: 'off' }, false],
  [
    'are made in production too, where introspection is on',
    { NODE_ENV: 'production', SANDBOX: 'on', INTROSPECTION: 'on' },
    true,
  ],
])('suggestions %s', async (_name, environment, expected) => {
  await using app = await startTestApp(environment);
  for (const [transport, ask] of TRANSPORTS) {
    for (const asked of [NEARLY_A_FIELD, NEARLY_A_VALUE]) {
      const { errors = [] } = await ask(app, asked);
      expect(errors, transport).toHaveLength(1);
      expect(errors[0]?.message.includes('Did you mean'), transport).toBe(expected);
    }
  }
});

test('suggestions are off with a real gateway, whatever NODE_ENV says', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  for (const environment of [{}, { NODE_ENV: 'development' }, { NODE_ENV: 'production' }]) {
    await using app = await startTestApp(environment, { gateway });
    const { errors } = await app.query(NEARLY_A_FIELD.query);
    expect(errors[0]?.message).toBe('Cannot query field "positons" on type "Query".');
  }
});
