import { beforeAll, describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp();
let token: string;

beforeAll(async () => {
  token = await app.signIn();
});

// One of each argument; the tests of paging know every other way.
const WRONG = [
  ['first: 501', 'first'],
  ['last: 501', 'last'],
  ['after: "forged"', 'after'],
  ['before: "forged"', 'before'],
] as const;

describe.each(TRANSPORTS)('by %s', (_transport, ask) => {
  test.each(WRONG)('a page of %s is refused, and the argument named', async (args, argument) => {
    const query = `{ instruments(${args}) { totalCount } }`;
    const { data, errors } = await ask(app, { query }, token);
    expect(data).toEqual({ instruments: null });
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(`^${argument} `),
        path: ['instruments'],
        extensions: { code: 'BAD_USER_INPUT', retryable: false, argument },
      },
    ]);
  });

  test.each([[{ count: 501 }], [{ count: 1.5 }], [{ count: 'many' }]])(
    'so is a page whose variables are %j',
    async (variables) => {
      const query = 'query ($count: Int) { instruments(last: $count) { totalCount } }';
      const { errors } = await ask(app, { query, variables }, token);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'last' } }]);
    },
  );
});
