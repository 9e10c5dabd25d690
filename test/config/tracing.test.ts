import { describe, expect, test } from 'vitest';
import { type Environment, parseEnvironment } from '../../src/config.ts';

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const read = (environment: Environment) => {
  const { config, problems, warnings } = parseEnvironment(environment);
  expect(problems).toEqual([]);
  return { tracing: config.tracing, warnings };
};

test('the endpoint turns tracing on, with the defaults of the specification', () => {
  expect(read(ON)).toEqual({
    tracing: {
      url: 'http://collector:4318/v1/traces',
      headers: {},
      compression: 'none',
      resource: { 'service.name': 'trading-graph' },
      sampler: { root: 'always_on', isParentBased: true, ratio: 1 },
      batch: {},
    },
    warnings: [],
  });
});

test.each([
  ['nothing', {}],
  ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['other variables alone', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }],
  ['OTEL_SDK_DISABLED', { ...ON, OTEL_SDK_DISABLED: 'True' }],
  ['no exporter', { ...ON, OTEL_TRACES_EXPORTER: 'none' }],
])('tracing is off with %s', (_, environment) => {
  expect(read(environment)).toEqual({ tracing: null, warnings: [] });
});

test('every variable counts, and one for traces before one for all signals', () => {
  const { tracing, warnings } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/prefix/',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=all, x-team = graph%20team',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=a=b',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '700',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=hidden,deployment.environment.name=test',
    OTEL_SERVICE_NAME: 'facade',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BSP_EXPORT_TIMEOUT: '2000',
    OTEL_BSP_MAX_QUEUE_SIZE: '64',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32',
  });
  expect(warnings).toEqual([]);
  expect(tracing).toEqual({
    url: 'http://collector:4318/prefix/v1/traces',
    headers: { 'x-key': 'a=b', 'x-team': 'graph team' },
    timeoutMs: 700,
    compression: 'gzip',
    resource: { 'service.name': 'facade', 'deployment.environment.name': 'test' },
    sampler: { root: 'traceidratio', isParentBased: true, ratio: 0.25 },
    batch: {
      scheduledDelayMillis: 100,
      exportTimeoutMillis: 2_000,
      maxQueueSize: 64,
      maxExportBatchSize: 32,
    },
  });
});

test('an endpoint for traces is the whole address', () => {
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/custom' };
  expect(read({ ...ON, ...environment }).tracing?.url).toBe('https://collector/custom');
  expect(read(environment).tracing?.url).toBe('https://collector/custom');
});

describe('a wrong value', () => {
  test.each([
    ['OTEL_TRACES_SAMPLER', 'canary', 'one of always_on'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'canary:4318', 'an http or https address'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'canary', 'http/json'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization', 'name=value, name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=canary%', 'name=value, name=value'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'a whole number, 1 to'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'canary', 'none or gzip'],
    ['OTEL_TRACES_EXPORTER', 'canary', 'otlp or none'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '1e3', 'a whole number, 1 to'],
  ])('of %s is ignored with a warning that does not show it (%s)', (name, value, allowed) => {
    const { tracing, warnings } = read({ ...ON, [name]: value });
    expect(tracing).toEqual(read(ON).tracing);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`${name} is ignored: it must be ${allowed}`);
    expect(warnings[0]).not.toContain('canary');
  });

  test.each(['-0.1', '1.1', 'all', 'NaN'])('of a ratio counts as all: %s', (ratio) => {
    const { tracing, warnings } = read({
      ...ON,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    expect(tracing?.sampler).toEqual({ root: 'traceidratio', isParentBased: false, ratio: 1 });
    expect(warnings).toEqual([
      'OTEL_TRACES_SAMPLER_ARG is ignored: it must be a number from 0 to 1',
    ]);
  });
});
