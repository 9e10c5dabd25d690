import { expect, test } from 'vitest';
import type { Sandbox } from '../../../sandbox/start.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { check, checkOf, startGateway } from './run-check.ts';

test('an address where no gateway is reached is named', async () => {
  const gateway = await startGateway();
  const { port, url } = gateway;
  const at = async (of: string) => (await checkOf({ url: of })).problems;
  await using files = await makeCertificate();
  await using front = await startTlsFront(files, port);
  expect([
    await at('http://gateway.invalid'),
    await at(url.replace('http:', 'https:')),
    await at(`https://127.0.0.1:${front.port}`),
    await gateway.close().then(() => at(url)),
  ]).toEqual(
    [
      /^GATEWAY_URL {2}op 12: .*the name of the host has no address \(E\w+\)/,
      /^GATEWAY_URL {2}op 12: .*TLS: what listens there does not speak it; is http meant/,
      /^NODE_EXTRA_CA_CERTS {2}op 12: .*an authority that this machine does not know/,
      /^GATEWAY_URL {2}op 12: .*nothing listens at this host and port \(ECONNREFUSED\)\.$/,
    ].map((problem) => [expect.stringMatching(problem)]),
  );
});

test.each([
  [
    'asks for credentials of its own',
    answer(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' }),
    /^GATEWAY_HEADERS {2}op 12: Status 401 asks for a user/,
  ],
  [
    'redirects to another base',
    answer(301, '', { location: 'https://gateway.example.com/api/trading/positions' }),
    /it leads to https:\/\/gateway\.example\.com\/api, which may be the base/,
  ],
  [
    'answers without a token',
    answer(200, { positions: [] }),
    /^op 12: It is answered without a token, where the interface asks for one\.$/,
  ],
])('something in front that %s is named', async (_, says, problem) => {
  await using proxy = await startScriptedGateway((socket) => socket.end(says));
  expect((await checkOf(proxy)).problems[0]).toMatch(problem);
});

test('a gateway that does not check signatures is named, and a key makes up for it', async () => {
  await using gateway = await startGateway();
  const session = { login: 700001, group: 'standard-usd', positions: [], orders: [] };
  await using careless = await startScriptedGateway((socket, { path, headers }) => {
    const isTaken = headers.authorization && path.startsWith('/trading/session/');
    socket.write(isTaken ? answer(200, session) : answer(401, { error: 'UNAUTHORIZED' }));
  });
  const token = gateway.token({ email: 'demo@example.com' });
  const taken = 'op 10: A token with a broken signature is accepted';
  const careful = { GATEWAY_URL: careless.url, CHECK_TOKEN: token };
  const { problems } = await check(careful);
  expect(problems.join('\n')).toContain(`JWT_SECRET  ${taken}`);
  const keyed = await check({ ...careful, JWT_SECRET: gateway.secret });
  expect(keyed.problems.join('\n')).not.toContain('broken signature');
  expect(keyed.text).toContain(taken);
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
  const unsigned = await check({ GATEWAY_URL: careless.url, CHECK_TOKEN: unsignedToken(claims) });
  expect(unsigned.problems).toContainEqual(expect.stringContaining('The token has no signature'));
});

const answered = (gateway: Sandbox, operation: 'getSession' | 'getCustomerId', body: object) =>
  gateway.fail({ operation, kind: 'status', status: 200, body, times: 1 });

test('a group that no path can hold is never sent', async () => {
  await using gateway = await startGateway();
  answered(gateway, 'getSession', { login: 700001, group: '../..' });
  const { problems } = await checkOf(gateway);
  expect(problems).toContain(
    'op 1: The group cannot be a part of a path: the service never sends it.',
  );
  expect(gateway.calls('getAllTickers')).toBe(0);
});

test('properties that the interface does not name are noted by names that cannot be data', async () => {
  await using gateway = await startGateway();
  const named = { region: 'eu', 'somebody@example.com': 1, '700001': 1, 'two words': 1 };
  answered(gateway, 'getCustomerId', { customerId: 'x', ...named, user_700001: 1 });
  const { code, text } = await checkOf(gateway);
  expect(code).toBe(0);
  expect(text).toContain(
    'op 13: Not in the interface, and not read: […] (number), region (string).',
  );
});

test('headers that are missing are noted, and an ETag that does nothing is warned of', async () => {
  await using gateway = await startGateway();
  gateway.changeCatalog({ ageSeconds: null, etag: false, cacheControl: null });
  const without = await checkOf(gateway);
  expect(without.code).toBe(0);
  expect(without.text).toMatch(/catalog's headers +date; not there: age, etag, cache-control/);
  expect(without.text).toContain('There is no Age: the catalog may be up to an hour older');
  gateway.changeCatalog({ etag: false, headers: { etag: '"never the same"' } });
  const fruitless = await checkOf(gateway);
  expect(fruitless.code).toBe(0);
  expect(fruitless.text).toContain('If-None-Match is not answered with 304');
  expect(fruitless.text).toMatch(/\nNo problem, 1 warning\.$/);
});

test('a call that takes over a second is told of', async () => {
  await using gateway = await startGateway();
  gateway.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 2_500, times: 1 });
  const { code, err } = await checkOf(gateway);
  expect(code).toBe(0);
  expect(err.join('\n')).toMatch(/^… op 13 +GET \/payments\/client\/customer-id: \d+ s$/m);
});
