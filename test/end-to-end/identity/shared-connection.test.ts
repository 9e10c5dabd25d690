import { Client } from 'undici';
import { expect, test } from 'vitest';
import { type GraphQLAnswer, startTestApp } from '../../support/app.ts';
import { withClaims } from '../../support/tokens.ts';

test('each request on one connection is answered for its own token, never for an earlier one', async () => {
  await using app = await startTestApp();
  const one = app.sandbox.token({ email: 'demo@example.com' });
  const other = app.sandbox.token({ email: 'pro@example.com' });
  const forged = withClaims(other, { login: 700001 });
  const refused = ['UNAUTHENTICATED', 'UNAUTHENTICATED'];
  const requests: [string | null, string | null, readonly string[]][] = [
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${other}`, '700002', []],
    [null, null, refused],
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${forged}`, null, refused],
    [`bearer ${one}`, '700001', []],
    ['Bearer', null, refused],
    [`Bearer ${other} `, '700002', []],
    [`Basic ${one}`, null, refused],
    [`Bearer ${other}`, '700002', []],
  ];
  // A proxy sends the requests of all its clients over a few connections.
  const client = new Client(app.url);
  let connections = 0;
  client.on('connect', () => {
    connections += 1;
  });
  for (const [authorization, login, codes] of [...requests, ...requests.toReversed()]) {
    const { body } = await client.request({
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ query: '{ session { login } customerId }' }),
    });
    const { data, errors = [] } = (await body.json()) as Pick<GraphQLAnswer, 'data' | 'errors'>;
    expect(data.session?.login ?? null, `${authorization?.slice(0, 20)}`).toBe(login);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(codes);
  }
  expect(connections).toBe(1);
  await client.close();
});
