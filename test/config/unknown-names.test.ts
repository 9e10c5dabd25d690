import { expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { type Environment, parseEnvironment } from '../../src/config.ts';

const warningsOf = (environment: Environment) => parseEnvironment(environment).warnings;

test.each([
  ['RATE_LIMIT_PER_MIN', 'RATE_LIMIT_PER_MINUTE'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['TRUSTED_PROXIS', 'TRUSTED_PROXIES'],
  ['GATEWAY_URI', 'GATEWAY_URL'],
  ['gateway_url', 'GATEWAY_URL'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['CATALOG_MAX_AGE', 'CATALOG_MAX_AGE_SECONDS'],
  ['GATEWAY_TIMEOUT_SECONDS', 'GATEWAY_TIMEOUT_MS'],
  ['POSITIONS_POLL_INTERVAL', 'POSITIONS_POLL_MS'],
  ['GRAPHIQL_ENABLED', 'GRAPHIQL'],
  ['JWT_SECRET_FLIE', 'JWT_SECRET_FILE'],
  // The setting is not a secret, so it cannot be in a file.
  ['LOG_LEVEL_FILE', 'LOG_LEVEL'],
])('%s is recognized as a misspelt %s', (name, meant) => {
  expect(warningsOf({ [name]: 'canary' })).toEqual([
    `${name} is not a setting: is ${meant} meant?`,
  ]);
});

test('every setting of two words or more is recognized if a letter is missing', () => {
  for (const name of Object.keys(SETTINGS).filter((each) => each.includes('_'))) {
    // Libraries read other variables with this prefix.
    if (name.startsWith('OTEL_')) continue;
    const withoutALetter = name.slice(0, -2) + name.slice(-1);
    expect(warningsOf({ [withoutALetter]: '1' }), withoutALetter).toHaveLength(1);
  }
});

test('variables of a machine, a shell, a container or Kubernetes are not reported', () => {
  const usual = [
    'HOME HOSTNAME HOSTTYPE HOST_IP LANG LOGNAME MAIL OLDPWD PATH POST PWD SHELL SHLVL TERM TZ USER _',
    'NODE_OPTIONS NODE_PATH NODE_VERSION NODE_EXTRA_CA_CERTS YARN_VERSION HTTP_PROXY HTTPS_PROXY NO_PROXY',
    'npm_config_cache npm_lifecycle_event npm_package_name npm_package_version INIT_CWD COLOR CI DEBUG',
    'GATEWAY_SERVICE_HOST GATEWAY_SERVICE_PORT GATEWAY_PORT GATEWAY_PORT_80_TCP_ADDR REDIS_HOST REDIS_PORT',
    'REDIS_PORT_6379_TCP REDIS_SERVICE_PORT KUBERNETES_PORT KUBERNETES_SERVICE_HOST TRADING_GRAPH_PORT',
    'OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TIMEOUT port host LOG_DIR LOG_FILE',
    'AWS_REGION DATABASE_URL SENTRY_DSN JWT_KEY MAX_OLD_SPACE',
  ];
  const names = usual.flatMap((line) => line.split(' '));
  expect(warningsOf(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([]);
});

test('no setting is reported as a misspelling of another setting', () => {
  const all = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '1']));
  expect(warningsOf({ ...all, JWT_SECRET_FILE: '/x', REDIS_URL_FILE: '/x' })).toEqual([]);
});
