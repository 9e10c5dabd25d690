import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const NEARLY_A_FIELD = { query: '{ positons { id } }' };
const NEARLY_A_VALUE = {
  query: 'query ($by: InstrumentOrderBy!) { instruments(orderBy: { by: $by }) { totalCount } }',
  variables: { by: 'SYMBOLL' },
};

test.each([
  ['the sandbox', {}, true],
  ['the sandbox', { INTROSPECTION: 'off' }, false],
  ['the sandbox', { NODE_ENV: 'production', SANDBOX: 'on', INTROSPECTION: 'on' }, true],
  ['a real gateway', {}, false],
  ['a real gateway', { NODE_ENV: 'development' }, false],
] as const)('with %s and %j suggestions are made: %s', async (which, environment, expected) => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const options = which === 'the sandbox' ? {} : { gateway };
  await using app = await startTestApp(environment, options);
  for (const [transport, ask] of TRANSPORTS) {
    for (const asked of [NEARLY_A_FIELD, NEARLY_A_VALUE]) {
      const { errors = [] } = await ask(app, asked);
      expect(errors, transport).toHaveLength(1);
      expect(errors[0]?.message.includes('Did you mean'), transport).toBe(expected);
    }
  }
});
