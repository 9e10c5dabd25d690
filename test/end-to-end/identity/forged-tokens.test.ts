import { Client } from 'undici';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/start.ts';
import { type GraphQLAnswer, startTestApp } from '../../support/app.ts';
import { limited } from '../../support/limits.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { inSeconds, signedToken, unsignedToken, withClaims } from '../../support/tokens.ts';

const SCREEN = `{
  session { login balance positions { id } orders { id } }
  positions { id symbol instrument { name } }
  orders { id }
  instrument(id: "AAPL") { name positions { id } }
  catalog { group version size }
  withdrawalMethods { title }
  customerId
}`;
/** Fields that are resolved differently if they are the only ones of their query. */
const LONE_FIELDS = ['instrument(id: "AAPL") { name }', 'catalog { size }', 'orders { id }'];
const VICTIM = { login: 700001, group: 'standard-usd' };

type Forge = (sandbox: Sandbox, victim: string) => string;
const validClaims = () => ({ ...VICTIM, exp: inSeconds(3_600) });

const FORGERIES: readonly (readonly [string, Forge])[] = [
  ['unsigned', () => unsignedToken(validClaims())],
  ['signed with a guess', () => signedToken({ claims: validClaims(), secret: 'a guess' })],
  [
    'marked as unsigned',
    ({ secret }) => signedToken({ claims: validClaims(), secret, header: { alg: 'none' } }),
  ],
  [
    'the attacker’s own, with the victim’s claims',
    (sandbox) => withClaims(sandbox.token({ email: 'pro@example.com' }), VICTIM),
  ],
  ['the victim’s, altered', (_sandbox, victim) => withClaims(victim, { exp: inSeconds(99_999) })],
  ['the victim’s, without its signature', (_sandbox, victim) => `${unsignedPart(victim)}.`],
  ['the victim’s, with another signature', (_sandbox, victim) => `${unsignedPart(victim)}.AAAA`],
];

function unsignedPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'));
}

describe('with a victim’s session, positions and catalog cached', () => {
  const app = sharedApp({}, { limits: limited('proofs', 1_000) });
  let victim: string;
  beforeAll(() => {
    victim = app.sandbox.token({ email: 'demo@example.com' });
  });
  beforeEach(async () => {
    const { errors } = await app.query(SCREEN, { token: victim });
    expect(errors).toEqual([]);
    app.sandbox.clearCalls();
  });

  test.each(FORGERIES)('a token that is %s gets only errors', async (_what, forge) => {
    for (const document of [SCREEN, ...LONE_FIELDS.map((field) => `{ ${field} }`)]) {
      const token = forge(app.sandbox, victim);
      // The second refusal can come from a cache.
      for (let time = 0; time < 2; time += 1) {
        const { data, errors } = await app.query(document, { token });
        expect(Object.values(data).filter((value) => value !== null)).toEqual([]);
        expect(errors.length).toBeGreaterThan(0);
        for (const { extensions } of errors) expect(extensions.code).toBe('UNAUTHENTICATED');
      }
    }
    const { errors } = await app.query(SCREEN, { token: victim });
    expect(errors).toEqual([]);
  });
});

test('each request of a connection is answered for its own token, not for that of an earlier request', async () => {
  await using app = await startTestApp();
  const one = app.sandbox.token({ email: 'demo@example.com' });
  const other = app.sandbox.token({ email: 'pro@example.com' });
  const forged = withClaims(other, { login: 700001 });
  const refused = ['UNAUTHENTICATED', 'UNAUTHENTICATED'];
  // The Authorization header, the login of the answer, and its error codes.
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
    [`Bearer ${one} ${one}`, null, refused],
    [one, null, refused],
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
