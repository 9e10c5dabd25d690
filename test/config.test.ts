import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../src/config/settings.ts';
import { type Config, type Environment, parseEnvironment, readConfig } from '../src/config.ts';

const gateway = { GATEWAY_URL: 'https://gateway.example.com' };

const problemsOf = (environment: Environment) => parseEnvironment(environment).problems;

const production = { NODE_ENV: 'production' };
const gatewayInProduction = { ...production, ...gateway };

test.each<[string, Environment, Partial<Config>]>([
  [
    'nothing is set: the sandbox is on',
    {},
    {
      sandbox: true,
      demoPage: true,
      graphiql: true,
      gatewayUrl: null,
      host: '127.0.0.1',
      port: 4_000,
      adminHost: '127.0.0.1',
      adminPort: 4_001,
      corsOrigins: { origins: [], anyLocalhost: true },
      gatewayHeaders: {},
      jwtSecret: null,
      orderStore: '.sandbox/orders.db',
      orderRecordsMax: 2_000_000,
      persistedDocumentsOnly: 'off',
      gatewayForwardHeaders: [],
    },
  ],
  [
    'a gateway is set: the features of the sandbox are off',
    gateway,
    {
      sandbox: false,
      demoPage: false,
      graphiql: false,
      orderStore: 'data/orders.db',
      orderRecordsMax: 2_000_000,
      corsOrigins: { origins: [], anyLocalhost: false },
    },
  ],
  ['GraphiQL is on', { ...gateway, GRAPHIQL: 'on' }, { graphiql: true }],
  ['GraphiQL is off', { GRAPHIQL: 'off' }, { graphiql: false }],
  [
    'origins are set',
    { CORS_ORIGINS: 'https://a.example.com, http://localhost:3000,capacitor://localhost' },
    {
      corsOrigins: {
        origins: ['https://a.example.com', 'http://localhost:3000', 'capacitor://localhost'],
        anyLocalhost: false,
      },
    },
  ],
  [
    'the gateway’s path has a trailing slash',
    { GATEWAY_URL: 'http://a:1/v2/' },
    { gatewayUrl: 'http://a:1/v2' },
  ],
  [
    'the gateway has no path',
    { GATEWAY_URL: 'http://10.0.0.1:8080' },
    { gatewayUrl: 'http://10.0.0.1:8080' },
  ],
  [
    'a gateway is set in production',
    gatewayInProduction,
    { sandbox: false, requiresAppendonly: true },
  ],
  [
    'the sandbox is on in production',
    { ...production, SANDBOX: 'on' },
    { sandbox: true, demoPage: false },
  ],
  ['NODE_ENV is not production', gateway, { requiresAppendonly: false, redisReplicas: null }],
  [
    'Redis has a replica',
    { ...gatewayInProduction, REDIS_REPLICAS: '1' },
    { requiresAppendonly: false, redisReplicas: 1 },
  ],
  [
    'Redis has no replica',
    { ...gatewayInProduction, REDIS_REPLICAS: '0' },
    { requiresAppendonly: true, redisReplicas: 0 },
  ],
  [
    'Redis may forget orders',
    { ...gatewayInProduction, REDIS_REPLICAS: 'none' },
    { requiresAppendonly: false, redisReplicas: 0 },
  ],
  ['records are in memory', { ...gateway, ORDER_STORE: 'memory' }, { orderRecordsMax: 200_000 }],
  ['records are in a file', { ORDER_STORE: 'a' }, { orderStore: 'a', orderRecordsMax: 2_000_000 }],
  ['records are in Redis', { REDIS_URL: 'redis://127.0.0.1' }, { orderRecordsMax: 2_000_000 }],
])('the configuration if %s', (_, environment, expected) => {
  expect(readConfig(environment)).toMatchObject(expected);
});

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

test('production requires a gateway', () => {
  expect(problemsOf(production)).toEqual([
    expect.stringMatching(/^GATEWAY_URL is unset: .*NODE_ENV=production.*SANDBOX/),
  ]);
});

describe('the problem of a wrong value contains the variable, the value and what is allowed', () => {
  test.each([
    ['NODE_ENV', 'prod', '`development`, `production`, `test`'],
    ['PORT', '65536', 'a whole number, 0 to 65535'],
    ['PORT', '-1', 'a whole number, 0 to 65535'],
    ['PORT', ' 80', 'a whole number, 0 to 65535'],
    ['HOST', 'http://localhost', 'an IP address or a host name'],
    ['HOST', '-h', 'an IP address or a host name'],
    ['POSITIONS_POLL_MS', '99', 'a whole number, 100 to'],
    ['POSITIONS_POLL_MS', '2147483648', 'to 2147483647'],
    ['ORDER_TIMEOUT_MS', '15', 'a whole number, 100 to 3600000'],
    ['ORDER_TIMEOUT_MS', '86400000', 'a whole number, 100 to 3600000'],
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
    ['REDIS_URL', 'redis-sentinel://one:26379/orders', 'a redis:// or rediss:// address'],
    // With these addresses the Redis client would connect without TLS, or with options of its own.
    ['REDIS_URL', 'REDISS://redis:6379/0', 'a redis:// or rediss:// address'],
    ['REDIS_URL', 'redis://redis/0#1', 'with the number of a database'],
    ['REDIS_URL', 'redis:/5', 'with the number of a database'],
    ['REDIS_URL', '/run/redis/redis.sock\r', 'the path of a socket'],
    [
      'ORDER_STORE',
      '/data/orders.db\r',
      'a file, or the word `memory`, without spaces or a line end',
    ],
    ['ORDER_STORE', 'memory ', 'without spaces or a line end around it'],
    ['JWT_ISSUER', '\thttps://issuer.example.com', 'without spaces or a line end around it'],
    ['REDIS_PREFIX', 'two words', 'no spaces or braces'],
    ['REDIS_REPLICAS', 'off', 'a whole number, 0 or more, or `none`'],
    ['REDIS_PREFIX', '{tag}', 'no spaces or braces'],
    ['CORS_ORIGINS', '*', 'no `*`'],
    ['CORS_ORIGINS', 'https://app.example.com/', 'no path'],
    ['CORS_ORIGINS', 'https://a.example.com,,https://b.example.com', 'commas between them'],
    ['CORS_ORIGINS', 'null', 'origins'],
    ['CORS_ORIGINS', 'https://a.example.com:443', 'origins'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'addresses or networks'],
    ['TRUSTED_PROXIES', '::1/129', 'addresses or networks'],
    ['TRUSTED_PROXIES', 'proxy.internal', 'addresses or networks'],
    ['PERSISTED_DOCUMENTS_ONLY', 'yes', '`off`, `log`, `on`'],
    // The problem must be one line, even if the value has several.
    ['LOG_LEVEL', 'loud\nPORT=1', '`info`'],
    ['LOG_SAMPLE', '1.5', 'a number from 0 to 1'],
    ['LOG_SAMPLE', '5%', 'a number from 0 to 1'],
  ])('%s=%s', (name, value, allowed) => {
    const [line, ...others] = problemsOf({ [name]: value });
    expect(others).toEqual([]);
    expect(line).toContain(`${name}=${JSON.stringify(value)}: must be `);
    expect(line).toContain(allowed);
    expect(line).not.toContain('\n');
  });
});

test.each(Object.keys(SETTINGS))(
  'a wrong value of %s is a problem that names the setting',
  (name) => {
    // A blank text is wrong for each setting.
    const lines = problemsOf({ [name]: ' \n' });
    expect(lines).toEqual([expect.stringMatching(`^${name}[= ].*: must be `)]);
  },
);

describe('contradicting values are refused', () => {
  test.each<[string, Environment, string]>([
    ['a too short grace period', { SHUTDOWN_GRACE_MS: '15000' }, 'ORDER_TIMEOUT_MS (15000)'],
    ['one port for both listeners', { ADMIN_PORT: '4000' }, 'PORT (4000)'],
    ['no sandbox, and no gateway', { SANDBOX: 'off' }, 'GATEWAY_URL is unset'],
    [
      'two kinds of keys',
      { JWT_JWKS_URL: 'https://keys', JWT_SECRET: 'canary'.repeat(6) },
      'JWT_SECRET',
    ],
    ['an issuer without a key', { JWT_ISSUER: 'us' }, 'JWT_ISSUER="us": must be unset'],
    ['an audience without a key', { JWT_AUDIENCE: 'us' }, 'JWT_AUDIENCE="us": must be unset'],
    [
      'only trusted documents, but no such documents',
      { PERSISTED_DOCUMENTS_ONLY: 'on' },
      'without PERSISTED_DOCUMENTS',
    ],
    [
      'a header that is fixed and forwarded',
      { GATEWAY_FORWARD_HEADERS: 'x-brand,x-Tenant', GATEWAY_HEADERS: '{"X-Tenant":"canary"}' },
      'GATEWAY_FORWARD_HEADERS="x-brand,x-tenant": must not name x-tenant, which GATEWAY_HEADERS fixes',
    ],
  ])('%s', (_, env, words) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(words)]);
  });

  test('but contradictions are not reported while a value is wrong by itself', () => {
    expect(problemsOf({ SHUTDOWN_GRACE_MS: '10s', ORDER_TIMEOUT_MS: '30000' })).toHaveLength(1);
    expect(problemsOf({ JWT_AUDIENCE: 'PORT', PORT: 'none' })).toHaveLength(1);
    // An issuer and an audience need one kind of key.
    const claims = { JWT_ISSUER: 'us', JWT_AUDIENCE: 'them' };
    expect(problemsOf(claims)).toHaveLength(2);
    expect(problemsOf({ ...claims, JWT_SECRET: 'canary'.repeat(6) })).toEqual([]);
    expect(problemsOf({ ...claims, JWT_JWKS_URL: 'https://keys' })).toEqual([]);
    expect(problemsOf({ JWT_JWKS_URL: 'https://canary:word@keys' })).toEqual([
      expect.stringContaining('without user and password'),
    ]);
  });
});

describe('fixed headers', () => {
  test('are kept by their lower-case names', () => {
    const { gatewayHeaders } = readConfig({ GATEWAY_HEADERS: '{"X-Api-Key":"k","x-tenant":"t"}' });
    expect(gatewayHeaders).toEqual({ 'x-api-key': 'k', 'x-tenant': 't' });
  });

  test.each([
    ['not JSON', 'canary'],
    ['not an object', '["canary"]'],
    ['null', 'null'],
    ['an illegal name', '{"x key":"canary"}'],
    ['an empty name', '{"":"canary"}'],
    ['a value that is not a string', '{"x-key":{"canary":1}}'],
    ['a line end in a value', '{"x-key":"canary\\r\\nx-other: 1"}'],
    ['a name twice', '{"x-key":"canary","X-Key":"canary"}'],
    ['a header that replaces the user’s token', '{"Authorization":"Bearer canary"}'],
    ['a header that breaks the framing of the call', '{"Content-Length":"1canary"}'],
  ])('are refused: %s', (_, value) => {
    const problems = problemsOf({ GATEWAY_HEADERS: value });
    expect(problems).toEqual([
      expect.stringMatching(
        /^GATEWAY_HEADERS \(value not shown\): must be a JSON object of header/,
      ),
    ]);
    expect(problems[0]).not.toContain('canary');
  });

  test('cannot reach a prototype', () => {
    const { gatewayHeaders } = readConfig({ GATEWAY_HEADERS: '{"__proto__":"x"}' });
    expect(Object.getPrototypeOf(gatewayHeaders)).toBe(Object.prototype);
    expect(Object.keys(gatewayHeaders)).toEqual(['__proto__']);
  });
});

describe('forwarded headers', () => {
  const configWith = (value: string) => readConfig({ GATEWAY_FORWARD_HEADERS: value });
  const names = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}`).join();

  test('are sorted, in lower case and without duplicates', () => {
    const { gatewayForwardHeaders } = configWith('X-Tenant, x-brand,X-TENANT ,x-tenant');
    expect(gatewayForwardHeaders).toEqual(['x-brand', 'x-tenant']);
  });

  test('are at most eight', () => {
    expect(configWith(names(8)).gatewayForwardHeaders).toHaveLength(8);
    expect(problemsOf({ GATEWAY_FORWARD_HEADERS: names(9) })).toEqual([
      expect.stringContaining('at most 8 names'),
    ]);
    // X-0 is among the eight already.
    expect(configWith(`${names(8)},X-0`).gatewayForwardHeaders).toHaveLength(8);
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
  ['REDIS_URL', 'redis://redis:6379/0?password=canary'],
  ['REDIS_URL', 'user:can@canary@redis'],
  ['GATEWAY_URL', 'https://user:canary@gateway.example.com'],
  ['GATEWAY_URL', 'https://gateway.example.com/?key=canary'],
  ['JWT_SECRET', 'canary'.repeat(1_000)],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://user:canary@collector'],
])('a problem with %s does not show its secret (%#)', (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).not.toContain('canary');
});

test('a socket of Redis may have a space in its path', () => {
  const url = '/run/my redis/redis.sock';
  expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url);
});

const TRACED = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test.each([
  ['an endpoint', TRACED, true],
  [
    'an endpoint for traces',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces' },
    true,
  ],
  [
    'explicit values that leave tracing on',
    { ...TRACED, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' },
    true,
  ],
  ['nothing', {}, false],
  ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ['only other variables', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, false],
  ['OTEL_SDK_DISABLED', { ...TRACED, OTEL_SDK_DISABLED: 'True' }, false],
  ['no exporter', { ...TRACED, OTEL_TRACES_EXPORTER: 'none' }, false],
])('tracing depends on the variables of OpenTelemetry: %s', (_, environment, isOn) => {
  expect(readConfig(environment).tracing).toBe(isOn);
});
