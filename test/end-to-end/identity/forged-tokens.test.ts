import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../sandbox/start.ts';
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
const FIELDS = 'session positions orders instrument catalog withdrawalMethods customerId'.split(
  ' ',
);
const NOTHING = Object.fromEntries(FIELDS.map((name) => [name, null]));
const VICTIM = { login: 700001, group: 'standard-usd' };

type Forge = (sandbox: Sandbox, victim: string) => string;
const valid = () => ({ ...VICTIM, exp: inSeconds(3_600) });

const FORGERIES: readonly (readonly [string, Forge])[] = [
  ['unsigned', () => unsignedToken(valid())],
  ['signed with a guess', () => signedToken({ claims: valid(), secret: 'a guess' })],
  [
    'signed, it says, with nothing',
    ({ secret }) => signedToken({ claims: valid(), secret, header: { alg: 'none' } }),
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
  const app = sharedApp();
  let victim: string;

  beforeAll(() => {
    victim = app.sandbox.token({ email: 'demo@example.com' });
  });
  beforeEach(async () => {
    const { errors } = await app.query(SCREEN, { token: victim });
    expect(errors).toEqual([]);
    app.sandbox.clearCalls();
  });

  test.each(FORGERIES)('a token that is %s gets nothing, each time', async (_what, forge) => {
    const token = forge(app.sandbox, victim);
    for (let time = 0; time < 2; time += 1) {
      const { data, errors } = await app.query(SCREEN, { token });
      expect(data).toEqual(NOTHING);
      for (const { extensions } of errors) expect(extensions.code).toBe('UNAUTHENTICATED');
    }
    const { errors } = await app.query(SCREEN, { token: victim });
    expect(errors).toEqual([]);
  });

  test.each(['{ instrument(id: "AAPL") { name } }', '{ catalog { size } }', '{ orders { id } }'])(
    'a forged token gets nothing by %s alone',
    async (document) => {
      for (const [, forge] of FORGERIES) {
        const token = forge(app.sandbox, victim);
        const { data, errors } = await app.query(document, { token });
        expect(Object.values(data)).toEqual([null]);
        expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
      }
    },
  );

  test('a claimed group that is not the account’s own gets the account’s own catalog', async () => {
    const liar = app.sandbox.token({ email: 'pro@example.com', group: 'standard-usd' });
    const known = await app.query('{ session { group } catalog { group } }', { token: liar });
    expect(known.data.catalog?.group ?? 'pro-usd').toBe('pro-usd');
    const { data } = await app.query('{ catalog { group } instrument(id: "AAPL") { leverage } }', {
      token: liar,
    });
    // AAPL has a leverage of 5 in the claimed group.
    expect(data).toEqual({ catalog: { group: 'pro-usd' }, instrument: { leverage: 20 } });
  });
});

describe('a token without a valid login', () => {
  const app = sharedApp();
  const signed = (claims: object) =>
    signedToken({ claims: { group: 'standard-usd', ...claims }, secret: app.sandbox.secret });
  const WITHOUT: Readonly<Record<string, () => string | null>> = {
    'is missing': () => null,
    'is garbage': () => 'garbage',
    'has expired': () => app.sandbox.token({ login: 700001, expiresInSeconds: -31 }),
    'names no login': () => signed({}),
    'names a path': () => signed({ login: '1/../2' }),
    'names a list': () => signed({ login: [700001] }),
  };

  test.each(Object.entries(WITHOUT))(
    'because it %s is UNAUTHENTICATED with no call of the gateway',
    async (_what, tokenOf) => {
      const token = tokenOf();
      const { status, data, errors } = await app.query(SCREEN, { token });
      expect(status).toBe(200);
      expect(data).toEqual(NOTHING);
      expect(errors).toHaveLength(FIELDS.length);
      const write = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
      const written = await app.query(write, { token });
      for (const { extensions } of [...errors, ...written.errors]) {
        expect(extensions).toEqual({ code: 'UNAUTHENTICATED', retryable: false });
      }
      expect(written.errors).toHaveLength(1);
      expect(app.sandbox.calls()).toBe(0);
    },
  );

  test('because it has just expired is left for the gateway to judge for half a minute', async () => {
    const token = app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: -25 });
    const { errors } = await app.query('{ customerId }', { token });
    expect(errors[0]?.extensions).toMatchObject({
      code: 'UNAUTHENTICATED',
      operation: 'getCustomerId',
    });
    expect(app.sandbox.calls()).toBe(1);
  });

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'token'])(
    'because the header says %j is UNAUTHENTICATED',
    async (authorization) => {
      const { errors } = await app.query('{ customerId }', { headers: { authorization } });
      expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    },
  );
});
