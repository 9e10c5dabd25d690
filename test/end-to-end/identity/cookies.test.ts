import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { withClaims } from '../../support/tokens.ts';
import { openSocket } from '../live/raw-socket.ts';

const ORIGIN = 'https://app.example.com';
const OTHER_SITE = 'https://evil.example.com';
const DEMO = { email: 'demo@example.com' };
const READ = '{ customerId }';

const app = sharedApp({ AUTH_COOKIE: 'session', CORS_ORIGINS: ORIGIN });
const token = () => app.sandbox.token(DEMO);
const cookieOf = (value: string) => ({ cookie: `theme=dark; session=${value}; sessions=x` });

/** Sends exactly these headers, like a browser whose page cannot add others. */
const send = (headers: object, path: string, body?: string) =>
  rawRequest(`${app.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers },
    body,
  });

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (query: string, headers: object) =>
  send({ ...JSON_TYPE, ...headers }, '/graphql', JSON.stringify({ query }));
const get = (query: string, headers: object) =>
  send(headers, `/graphql?query=${encodeURIComponent(query)}`);

const LOGIN =
  'mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken customerId } } }';

describe('a cookie', () => {
  test('is the token of a request that sends no token in Authorization', async () => {
    for (const sent of [await post(READ, cookieOf(token())), await get(READ, cookieOf(token()))]) {
      expect(JSON.parse(sent.text).data).toEqual({ customerId: 'cus_700001' });
      expect(sent.headers.vary).toMatch(/Authorization.*Cookie/);
      expect(sent.headers['set-cookie']).toBeUndefined();
    }
    const allowedPage = { origin: ORIGIN, 'sec-fetch-site': 'same-site' };
    expect(await post(READ, { ...cookieOf(token()), ...allowedPage })).toMatchObject({
      text: expect.stringContaining('cus_700001'),
      headers: {
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-credentials': 'true',
      },
    });
    const foreign = await post(READ, { ...cookieOf(token()), origin: OTHER_SITE });
    expect(foreign.headers).not.toHaveProperty('access-control-allow-credentials');
    const other = app.sandbox.token({ email: 'pro@example.com' });
    for (const [authorization, customerId] of [
      [`Bearer ${other}`, 'cus_700002'],
      ['', 'cus_700001'],
      ['Basic c3RhZ2luZzpzaXRl', 'cus_700001'],
      // A malformed token is never replaced by the cookie's user.
      [other, null],
      ['Bearer', null],
    ]) {
      const { text } = await post(READ, { ...cookieOf(token()), authorization });
      expect(JSON.parse(text).data).toEqual({ customerId });
    }
  });

  test('is set by a login, expires with its token, and cannot be read by scripts', async () => {
    const { headers, text } = await post(LOGIN, { origin: app.url });
    const { accessToken, customerId } = JSON.parse(text).data.login;
    expect(customerId).toBe('cus_700001');
    const { exp } = JSON.parse(Buffer.from(accessToken.split('.')[1], 'base64url').toString());
    const until = new Date(exp * 1_000).toUTCString();
    const common = `session=${accessToken}; Expires=${until}; Path=/graphql; HttpOnly`;
    expect(headers['set-cookie']).toEqual([`${common}; SameSite=Lax`]);
    const { headers: withoutOrigin } = await post(LOGIN, {});
    expect(withoutOrigin['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Lax$/);
    // Only a local page on a local host gets a cookie without `Secure`, because a proxy may have rewritten `Host`.
    const remoteHost = { host: 'api.example.com' };
    for (const page of [{ ...remoteHost, origin: app.url }, remoteHost, { origin: ORIGIN }]) {
      const remote = await post(LOGIN, page);
      expect(remote.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
      expect(remote.headers['cache-control']).toBe('no-store');
    }
    const refused = await post(LOGIN.replace('"demo"', '"wrong"'), {});
    expect(refused.headers['set-cookie']).toBeUndefined();
  });

  test('is cleared only by an answer that refuses it', async () => {
    const cleared = ['session=; Max-Age=0; Path=/graphql; HttpOnly; SameSite=Lax'];
    const forged = withClaims(token(), { login: '700002' });
    for (const value of [forged, 'no-token']) {
      const page = { origin: app.url, authorization: '' };
      const { headers, text } = await post(READ, { ...cookieOf(value), ...page });
      expect(JSON.parse(text).errors[0].extensions.code).toBe('UNAUTHENTICATED');
      expect(headers['set-cookie']).toEqual(cleared);
      const accept = 'multipart/mixed;deferSpec=20220824';
      const inParts = '{ customerId ... @defer { instruments { totalCount } } }';
      const parts = await post(inParts, { ...cookieOf(value), ...page, accept });
      expect(parts.headers['content-type']).toContain('multipart/mixed');
      expect(parts.headers['set-cookie']).toEqual(cleared);
    }
    // A refused token in Authorization, a request without a cookie and an invalid query clear nothing.
    const authorization = `Bearer ${forged}`;
    const withBoth = await post(READ, { ...cookieOf(token()), authorization });
    expect(withBoth.headers['set-cookie']).toBeUndefined();
    expect((await post(READ, {})).headers['set-cookie']).toBeUndefined();
    expect((await post('{ nope }', cookieOf(token()))).headers['set-cookie']).toBeUndefined();
  });

  test('is cleared by POST /logout, which other sites cannot send', async () => {
    const { status, headers } = await send(cookieOf(token()), '/logout', '');
    expect(status).toBe(204);
    expect(headers['set-cookie']?.[0]).toMatch(/^session=; Max-Age=0;/);
    expect(await send(cookieOf(token()), '/logout')).toMatchObject({ status: 405 });
    const foreign = { ...cookieOf(token()), origin: OTHER_SITE };
    const refused = await send(foreign, '/logout', '');
    expect(refused.status).toBe(403);
    expect(refused.headers['set-cookie']).toBeUndefined();
  });
});

describe('a page of another site', () => {
  const FOREIGN = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', origin: OTHER_SITE },
    { origin: OTHER_SITE },
  ];

  test.each(FOREIGN)(
    'gets nothing with a visitor’s cookie, even if a proxy copies the cookie to a header: %o',
    async (foreign) => {
      const value = token();
      const authorization = `Bearer ${value}`;
      for (const copied of [{}, { authorization }, { authorization: '' }]) {
        const sent = { ...cookieOf(value), ...copied, ...foreign };
        expect(await get(READ, sent)).toMatchObject({ status: 403 });
      }
      const form = { 'content-type': 'text/plain', ...foreign };
      const { status } = await send({ ...cookieOf(value), ...form }, '/graphql', '{}');
      expect([403, 415]).toContain(status);
      // If there is no cookie, the page itself has set the header, which a preflight has allowed.
      expect(await get(READ, { authorization, ...foreign })).toMatchObject({ status: 200 });
    },
  );
});

describe('a socket', () => {
  const LIST = 'subscription { positions { id } }';
  const opening = (headers: object) => openSocket(app, undefined, { headers: { ...headers } });

  test('of an allowed page uses the cookie if its client sends no token', async () => {
    const ownPage = { origin: 'https://trade.example.com', host: 'Trade.example.com:443' };
    const basic = { authorization: 'Basic c3RhZ2luZzpzaXRl' };
    for (const [page, payload] of [
      [{ origin: ORIGIN }],
      [{ origin: app.url }, basic],
      [ownPage],
    ] as const) {
      using raw = await opening({ ...cookieOf(token()), ...page });
      raw.send({ type: 'connection_init', payload });
      raw.subscribe('a', LIST);
      expect((await raw.until('a', 'next')).payload?.data?.positions).toHaveLength(6);
    }
    using raw = await opening({ ...cookieOf('no-token'), origin: ORIGIN });
    raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${token()}` } });
    raw.subscribe('a', LIST);
    await raw.until('a', 'next');
  });

  test('without an origin ignores its cookie, and with another origin is refused', async () => {
    using raw = await opening(cookieOf(token()));
    raw.send({ type: 'connection_init' });
    raw.subscribe('a', READ);
    const { payload } = await raw.until('a', 'next');
    expect(payload?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    const unencrypted = { origin: 'http://trade.example.com', host: 'trade.example.com' };
    for (const page of [{ origin: OTHER_SITE }, unencrypted]) {
      await expect(opening({ ...cookieOf(token()), ...page })).rejects.toThrow('403');
    }
  });
});

test('without AUTH_COOKIE cookies are ignored, and /logout does not exist', async () => {
  await using plain = await startTestApp({ CORS_ORIGINS: ORIGIN });
  const sent = { ...cookieOf(plain.sandbox.token(DEMO)), origin: ORIGIN };
  const body = JSON.stringify({ query: READ });
  const { headers, text } = await rawPost(`${plain.url}/graphql`, body, sent);
  expect(JSON.parse(text).errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  expect(headers.vary).not.toContain('Cookie');
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
  expect((await rawPost(`${plain.url}/logout`, '')).status).toBe(404);
});
