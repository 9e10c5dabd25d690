import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../src/config/settings.ts';
import { type Environment, parseEnvironment, readConfig } from '../src/config.ts';

const gateway = { GATEWAY_URL: 'https://gateway.example.com' };

const problemsOf = (environment: Environment) => parseEnvironment(environment).problems;

describe('an empty environment', () => {
  test('gives the defaults, with the sandbox gateway on', () => {
    expect(readConfig({})).toMatchObject({
      ...{ sandbox: true, demoPage: true, graphiql: true, introspection: true, gatewayUrl: null },
      ...{ host: '127.0.0.1', port: 4_000, adminHost: '127.0.0.1', adminPort: 4_001 },
      ...{ corsOrigins: { origins: [], anyLocalhost: true }, gatewayHeaders: {}, jwtSecret: null },
      ...{ orderStore: 'memory', orderRecordsMax: 200_000, persistedDocumentsOnly: 'off' },
    });
  });

  test('is the same as one in which every variable is empty', () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe('the gateway', () => {
  test('takes the place of the sandbox, and what the sandbox opens is closed', () => {
    expect(readConfig(gateway)).toMatchObject({
      ...{ sandbox: false, demoPage: false, graphiql: false, introspection: false },
      ...{ orderStore: 'data/orders.db', orderRecordsMax: 2_000_000 },
      corsOrigins: { origins: [], anyLocalhost: false },
    });
  });

  test('keeps a path prefix and loses the slash at its end', () => {
    const { gatewayUrl } = readConfig({ GATEWAY_URL: 'https://gateway.example.com/api/v2/' });
    expect(gatewayUrl).toBe('https://gateway.example.com/api/v2');
    expect(readConfig({ GATEWAY_URL: 'http://10.0.0.1:8080' }).gatewayUrl).toBe(
      'http://10.0.0.1:8080',
    );
  });

  test('must be named in production, unless the sandbox is asked for', () => {
    const production = { NODE_ENV: 'production' };
    expect(problemsOf(production)).toEqual([
      expect.stringMatching(/^GATEWAY_URL is unset: .*NODE_ENV=production.*SANDBOX/),
    ]);
    const asked = readConfig({ ...production, SANDBOX: 'on' });
    expect(asked).toMatchObject({ sandbox: true, demoPage: false });
    expect(readConfig({ ...production, ...gateway }).sandbox).toBe(false);
  });
});

test('a Redis that forgets is refused in production alone, unless it is accepted by name', () => {
  const of = (environment: Environment) =>
    readConfig({ ...gateway, ...environment }).redisDurability;
  expect(of({ NODE_ENV: 'production' })).toBe('required');
  expect(of({ REDIS_DURABILITY: 'required' })).toBe('wished');
  for (const NODE_ENV of ['production', 'development']) {
    expect(of({ NODE_ENV, REDIS_DURABILITY: 'none' })).toBe('none');
  }
});

test('order records in memory are fewer by default than those in a file or in Redis', () => {
  const maxOf = (environment: Environment) => readConfig(environment).orderRecordsMax;
  expect(maxOf({ ...gateway, ORDER_STORE: 'memory' })).toBe(200_000);
  expect(maxOf({ ORDER_STORE: 'orders.db' })).toBe(2_000_000);
  expect(maxOf({ ORDER_STORE: 'memory', REDIS_URL: 'redis://127.0.0.1' })).toBe(2_000_000);
  expect(maxOf({ ORDER_STORE: 'orders.db', ORDER_RECORDS_MAX: '7' })).toBe(7);
});

test('an operator opens and closes what the sandbox decides by default', () => {
  expect(readConfig({ ...gateway, INTROSPECTION: 'on', GRAPHIQL: 'on' })).toMatchObject({
    introspection: true,
    graphiql: true,
  });
  expect(
    readConfig({
      INTROSPECTION: 'off',
      ORDER_STORE: 'orders.log',
      CORS_ORIGINS: 'https://app.example.com, http://localhost:3000,capacitor://localhost',
    }),
  ).toMatchObject({
    introspection: false,
    orderStore: 'orders.log',
    corsOrigins: {
      origins: ['https://app.example.com', 'http://localhost:3000', 'capacitor://localhost'],
      anyLocalhost: false,
    },
  });
});

describe('a wrong value is refused with its variable, itself and what is allowed', () => {
  test.each([
    ['PORT', '65536', 'a whole number, 0 to 65535'],
    ['PORT', '-1', 'a whole number, 0 to 65535'],
    ['PORT', ' 80', 'a whole number, 0 to 65535'],
    ['HOST', 'http://localhost', 'an IP address or a host name'],
    ['HOST', '-h', 'an IP address or a host name'],
    ['POSITIONS_POLL_MS', '99', 'a whole number, 100 to'],
    ['POSITIONS_POLL_MS', '2147483648', 'to 2147483647'],
    ['MAX_BODY_BYTES', '99999999999999999999', 'a whole number, 1 or more'],
    ['GATEWAY_TIME_UNIT', 'm', '`auto`, `s`, `ms`'],
    ['GATEWAY_URL', 'ftp://gateway', 'an http or https address'],
    ['GATEWAY_URL', 'gateway.example.com', 'an http or https address'],
    ['GATEWAY_URL', 'https://gateway.example.com#top', 'without user, password, query or fragment'],
    ['GATEWAY_DIRECTION_FIELD', 'symbol', 'the order does not have already'],
    ['GATEWAY_DIRECTION_FIELD', '__proto__', 'the order does not have already'],
    ['GATEWAY_MOBILE_WALLET', '../login', 'letters, digits'],
    ['GATEWAY_FORWARD_CLIENT', 'true', '`on` or `off`'],
    ['REDIS_URL', 'localhost:6379', 'a redis:// or rediss:// address'],
    ['REDIS_URL', 'redis://redis/queue', 'with the number of a database'],
    ['REDIS_URL', 'redis-sentinel://one:26379', 'name-of-the-primary'],
    ['REDIS_PREFIX', 'two words', 'no spaces or braces'],
    ['REDIS_DURABILITY', 'off', 'one of `required`, `none`'],
    ['REDIS_PREFIX', '{tag}', 'no spaces or braces'],
    ['CORS_HEADERS', '*', 'no `*`'],
    ['CORS_HEADERS', 'x-tenant,,x-app', 'commas between them'],
    ['CORS_HEADERS', 'x-tenant: one', 'names of headers'],
    ['CORS_ORIGINS', '*', 'no `*`'],
    ['CORS_ORIGINS', 'https://app.example.com/', 'no path'],
    ['CORS_ORIGINS', 'https://a.example.com,,https://b.example.com', 'commas between them'],
    ['CORS_ORIGINS', 'null', 'origins'],
    ['CORS_ORIGINS', 'https://a.example.com:443', 'origins'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'addresses or networks'],
    ['TRUSTED_PROXIES', '::1/129', 'addresses or networks'],
    ['TRUSTED_PROXIES', 'proxy.internal', 'addresses or networks'],
    ['PERSISTED_DOCUMENTS_ONLY', 'yes', '`off`, `log`, `on`'],
    ['LOG_LEVEL', 'loud', '`info`'],
    ['LOG_SAMPLE', '1.5', 'a number from 0 to 1'],
    ['LOG_SAMPLE', '5%', 'a number from 0 to 1'],
    ['CLIENT_NAMES', 'web"', 'names of clients'],
  ])('%s=%s', (name, value, allowed) => {
    const [line, ...others] = problemsOf({ [name]: value });
    expect(others).toEqual([]);
    expect(line).toContain(`${name}=${JSON.stringify(value)}: must be `);
    expect(line).toContain(allowed);
  });

  test('and all problems are told at once, one line each', () => {
    const problems = problemsOf({
      PORT: '1s',
      HOST: 'a b',
      LOG_LEVEL: 'loud\nPORT=1',
      ORDER_TIMEOUT_MS: '20000',
    });
    expect(problems.map((line) => line.split(/[= ]/)[0])).toEqual([
      'PORT',
      'HOST',
      'LOG_LEVEL',
      'SHUTDOWN_GRACE_MS',
    ]);
    expect(problems.every((line) => !line.includes('\n'))).toBe(true);
  });
});

describe('values that contradict each other are refused', () => {
  test.each<[string, Environment, string]>([
    ['a drain that an order outlives', { SHUTDOWN_GRACE_MS: '15000' }, 'ORDER_TIMEOUT_MS (15000)'],
    ['a ceiling below the interval', { POSITIONS_POLL_MS: '40000' }, 'POSITIONS_POLL_MS (40000)'],
    ['one port for both listeners', { ADMIN_PORT: '4000' }, 'PORT (4000)'],
    [
      'one port, on all addresses and on one',
      { ADMIN_PORT: '4000', HOST: '0.0.0.0' },
      'PORT (4000)',
    ],
    [
      'two kinds of keys',
      { JWT_JWKS_URL: 'https://keys', JWT_SECRET: 'canary'.repeat(6) },
      'JWT_SECRET',
    ],
    ['an issuer that nothing checks', { JWT_ISSUER: 'us' }, 'JWT_JWKS_URL or JWT_SECRET'],
    ['an audience that nothing checks', { JWT_AUDIENCE: 'us' }, 'JWT_JWKS_URL or JWT_SECRET'],
    [
      'a header that is fixed and sent on',
      { GATEWAY_FORWARD_HEADERS: 'x-brand,x-Tenant', GATEWAY_HEADERS: '{"X-Tenant":"canary"}' },
      'GATEWAY_FORWARD_HEADERS: must not name x-tenant, which GATEWAY_HEADERS fixes',
    ],
    ['trusted documents only, and none', { PERSISTED_DOCUMENTS_ONLY: 'on' }, 'PERSISTED_DOCUMENTS'],
  ])('%s', (_, env, words) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(words)]);
  });

  test('but not where one of them is wrong by itself', () => {
    expect(problemsOf({ SHUTDOWN_GRACE_MS: '10s', ORDER_TIMEOUT_MS: '30000' })).toHaveLength(1);
  });

  test('whatever words their values contain', () => {
    expect(problemsOf({ JWT_AUDIENCE: 'PORT', PORT: 'none' })).toHaveLength(2);
  });

  test('but an issuer and an audience that one kind of key checks do not', () => {
    const expected = { JWT_ISSUER: 'us', JWT_AUDIENCE: 'them' };
    expect(problemsOf({ ...expected, JWT_SECRET: 'canary'.repeat(6) })).toEqual([]);
    expect(problemsOf({ ...expected, JWT_JWKS_URL: 'https://keys' })).toEqual([]);
  });
});

describe('fixed headers', () => {
  test('are kept by their lower-case names', () => {
    const { gatewayHeaders } = readConfig({ GATEWAY_HEADERS: '{"X-Api-Key":"k","x-tenant":"t"}' });
    expect(gatewayHeaders).toEqual({ 'x-api-key': 'k', 'x-tenant': 't' });
  });

  test.each([
    ['not JSON', 'canary', 'header names'],
    ['no object', '["canary"]', 'header names'],
    ['null', 'null', 'header names'],
    ['an illegal name', '{"x key":"canary"}', 'legal header names'],
    ['an empty name', '{"":"canary"}', 'legal header names'],
    ['a value that is no text', '{"x-key":{"canary":1}}', 'x-key'],
    ['a line end in a value', '{"x-key":"canary\\r\\nx-other: 1"}', 'x-key'],
    ['a name twice', '{"x-key":"canary","X-Key":"canary"}', 'x-key is there twice'],
    ["the user's token replaced", '{"Authorization":"Bearer canary"}', 'authorization is set by'],
    ['the framing of the call', '{"Content-Length":"1canary"}', 'content-length is set by'],
  ])('are refused: %s', (_, value, words) => {
    const problems = problemsOf({ GATEWAY_HEADERS: value });
    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems[0]).not.toContain('canary');
  });

  test('cannot reach a prototype', () => {
    const { gatewayHeaders } = readConfig({ GATEWAY_HEADERS: '{"__proto__":"x"}' });
    expect(Object.getPrototypeOf(gatewayHeaders)).toBe(Object.prototype);
    expect(Object.keys(gatewayHeaders)).toEqual(['__proto__']);
  });
});

describe('headers that go on', () => {
  const named = (value: string) => readConfig({ GATEWAY_FORWARD_HEADERS: value });
  const names = (count: number) => Array.from({ length: count }, (_, at) => `x-${at}`).join();

  test('are sorted, in lower case and without doubles', () => {
    const { gatewayForwardHeaders } = named('X-Tenant, x-brand,X-TENANT ,x-tenant');
    expect(gatewayForwardHeaders).toEqual(['x-brand', 'x-tenant']);
    expect(readConfig({}).gatewayForwardHeaders).toEqual([]);
  });

  test('are at most eight', () => {
    expect(named(names(8)).gatewayForwardHeaders).toHaveLength(8);
    expect(problemsOf({ GATEWAY_FORWARD_HEADERS: names(9) })).toEqual([
      expect.stringContaining('at most 8 names'),
    ]);
    expect(named(`${names(8)},X-0`).gatewayForwardHeaders).toHaveLength(8);
  });

  test.each(
    [
      ...['Authorization', 'Cookie', 'host', 'origin', 'X-Forwarded-For', 'x-forwarded-host'],
      ...['forwarded', 'user-agent', 'x-request-id', 'traceparent', 'content-type', 'accept'],
      ...['accept-language', 'if-none-match', 'connection', 'transfer-encoding', 'sec-fetch-site'],
      ...['proxy-authorization', '__proto__', '*', 'x tenant'],
    ].map((name) => [name]),
  )('are refused: %s', (name) => {
    const problems = problemsOf({ GATEWAY_FORWARD_HEADERS: `x-tenant, ${name}` });
    expect(problems).toEqual([expect.stringContaining('GATEWAY_FORWARD_HEADERS')]);
  });
});

test.each([
  ['REDIS_URL', 'http://user:canary@redis:6379'],
  ['REDIS_URL', 'user:can@canary@redis'],
  ['GATEWAY_URL', 'https://user:canary@gateway.example.com'],
  ['GATEWAY_URL', 'https://gateway.example.com/?key=canary'],
  ['JWT_SECRET', 'canary'.repeat(1_000)],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://user:canary@collector'],
])('a problem with %s does not show what is secret in it (%#)', (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).not.toContain('canary');
});

test('a NODE_ENV that means production and is not written so stops the start, any other is taken as it is', () => {
  for (const NODE_ENV of ['Production', ' production', 'prod', 'producton', 'production-eu']) {
    expect(problemsOf({ NODE_ENV })).toEqual([
      expect.stringMatching(/^NODE_ENV=.*: must be `production`, written exactly so/),
    ]);
  }
  for (const NODE_ENV of ['production', 'development', 'staging', 'pre-production', 'product']) {
    expect(problemsOf({ NODE_ENV, SANDBOX: 'on' })).toEqual([]);
  }
});
