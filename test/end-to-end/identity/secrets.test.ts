import { expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { type Server, send } from '../../support/four-transports.ts';
import { readMetrics } from '../../support/leaks.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { inSeconds, signedToken } from '../../support/tokens.ts';

const PASSWORD = 'canaryPassw0rd!';
const EMAIL = 'canary.person@example.com';
const PHONE = '+49 151 98765432';
const ADDRESS = 'bc1qcanary7k9x2m4p6w8z0y3v5t7r9q1n3l5j7h9';
const PUSH_TOKEN = 'canary-push-4f6a8c0e2b4d6f8a0c2e';
const FIXED_HEADER = 'canaryFixedHeader';

const INPUTS = {
  login: { email: EMAIL, password: PASSWORD },
  forgotPassword: { email: EMAIL },
  addMobileWallet: { phone: PHONE },
  addCryptoWallet: { address: ADDRESS },
  registerDevice: { deviceId: 'd', token: PUSH_TOKEN },
  setValue: { key: 'k', value: [PASSWORD, PHONE, ADDRESS] },
};

/** The error of a gateway that repeats the request's values. */
const ECHO = {
  error: `NOT_${PASSWORD.length}`,
  message: `${EMAIL}, ${PHONE}, 4915198765432, ${ADDRESS} and ${PUSH_TOKEN} are not welcome`,
  details: { password: PASSWORD, phone: PHONE },
};

/** Sends secrets over every transport, in valid and invalid requests. Returns the errors of all answers. */
async function sendSecrets(server: Server, sandbox: Sandbox, token: string): Promise<string[]> {
  const { url } = server;
  const endpoint = `${url}/graphql`;
  const errors: string[] = [];
  const collect = (text: string) => {
    const body = JSON.parse(text);
    errors.push(JSON.stringify(body.errors ?? null));
  };
  const post = async (body: string, headers = {}) =>
    collect((await rawPost(endpoint, body, { authorization: `Bearer ${token}`, ...headers })).text);

  const mutations = Object.entries(INPUTS).map(([field, input]) => {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`;
    return { query, variables: { input } };
  });
  for (const fault of [
    null,
    { kind: 'status', status: 403, body: ECHO },
    { kind: 'status', status: 429, body: ECHO },
    { kind: 'status', status: 422, body: ECHO },
    { kind: 'status', status: 500, body: ECHO },
    { kind: 'status', status: 200, body: ECHO },
    { kind: 'garbage' },
    { kind: 'reset-after' },
  ] as const) {
    sandbox.clearFaults();
    if (fault) sandbox.fail({ operation: '*', ...fault });
    for (const mutation of mutations) await post(JSON.stringify(mutation));
    await post(JSON.stringify({ query: '{ session { login } customerId positions { id } }' }));
  }
  sandbox.clearFaults();

  for (const variables of WRONG_VARIABLES) {
    const query = 'mutation ($input: LoginInput!) { login(input: $input) { __typename } }';
    await post(JSON.stringify({ query, variables }));
  }
  for (const query of WRONG_DOCUMENTS) {
    await post(JSON.stringify({ query }));
    await post(JSON.stringify({ query }), { accept: 'text/event-stream, application/json' });
    collect((await rawRequest(`${endpoint}?${new URLSearchParams({ query })}`)).text);
    const refused = await send(server, 'WebSocket', query, { token });
    errors.push(JSON.stringify(refused.errors));
  }
  const cutOff = `{"query":"mutation { login(input: { password: \\"${PASSWORD}\\"`;
  await post(cutOff);
  await post(`{"${PASSWORD}": ${PASSWORD}}`);
  await post(`[${JSON.stringify(mutations[0])}]`);
  collect((await rawRequest(`${endpoint}?query={__typename}&variables={p:${PASSWORD}}`)).text);
  await rawRequest(`${url}/nowhere?token=${token}`, { headers: { 'x-request-id': token } });
  const malformed = [token, `Basic ${PASSWORD}`, `Bearer ${PASSWORD}`, `Bearer ${token}x`];
  for (const authorization of malformed) {
    await post(JSON.stringify({ query: '{ customerId session { login } }' }), { authorization });
  }
  return errors;
}

const WRONG_VARIABLES = [
  { input: { email: EMAIL, password: PASSWORD, more: PASSWORD } },
  { input: { email: EMAIL, pasword: PASSWORD } },
  { input: { email: [EMAIL], password: { is: PASSWORD } } },
  { input: { email: EMAIL, password: 98765432 } },
  { input: PASSWORD },
  { input: [EMAIL, PASSWORD] },
];
const WRONG_DOCUMENTS = [
  `mutation { login(input: { email: "${EMAIL}", pasword: "${PASSWORD}" }) { __typename } }`,
  `mutation { login(input: { email: "${EMAIL}", password: ["${PASSWORD}"] }) { __typename } }`,
  `mutation { login(input: "${PASSWORD}") { __typename } }`,
  `mutation { login(input: { email: "${EMAIL}", password: "${PASSWORD} }) { __typename } }`,
  `mutation { login(input: { email: "${EMAIL}", password "${PASSWORD}" }) { __typename } }`,
  `mutation { addMobileWallet(input: { phone: 4915198765432 }) { __typename } }`,
  `mutation { addMobileWallet(input: { phone: ${PHONE} }) { __typename } }`,
  `mutation { addCryptoWallet(input: { address: ${ADDRESS} }) { __typename } }`,
  `mutation { addCryptoWallet(input: { address: "${ADDRESS}", x: 1 }) { __typename } }`,
];

function expectNoSecrets(written: string, token: string): void {
  const [, claims = '', signature = ''] = token.split('.');
  for (const secret of [
    claims,
    signature,
    PASSWORD,
    EMAIL,
    PHONE,
    PHONE.replaceAll(/\D/g, ''),
    '98765432',
    ADDRESS,
    PUSH_TOKEN,
    FIXED_HEADER,
  ]) {
    // If this fails, the report shows one line and not the whole log.
    const leakingLine = written.split('\n').find((line) => line.includes(secret));
    expect(leakingLine, secret).toBeUndefined();
  }
}

// Error messages contain more details in development than in production.
test.each(['production', 'development'])(
  'no error, metric or output of the process contains a secret that was sent (%s)',
  async (NODE_ENV) => {
    await using sandbox = await startSandbox({ seed: 'secrets' });
    await using facade = await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      GATEWAY_HEADERS: JSON.stringify({ 'x-api-key': FIXED_HEADER }),
      NODE_ENV,
      LOG_LEVEL: 'trace',
      LOGIN_LIMIT_PER_MINUTE: '1000',
    });
    const account = { login: 700001, group: 'standard-usd', sub: 'canary-subject' };
    const claims = { ...account, exp: inSeconds(3_600) };
    const token = signedToken({ claims, secret: sandbox.secret });
    const errors = await sendSecrets(facade, sandbox, token);
    expect(errors.filter((text) => text !== 'null').length).toBeGreaterThan(50);
    expectNoSecrets(errors.join('\n'), token);
    expectNoSecrets(await readMetrics(facade.adminUrl), token);
    facade.signal('SIGTERM');
    expect(await facade.ended()).toBe(0);
    expect(facade.logged.length).toBeGreaterThan(20);
    expectNoSecrets(facade.logged.join('\n'), token);
  },
);
