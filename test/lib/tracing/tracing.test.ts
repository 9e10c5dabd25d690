import { expect, test } from 'vitest';
import { Tracing } from '../../../src/lib/tracing/tracing.ts';
import { startSpanCollector } from '../../support/span-collector.ts';

async function openTracing(environment: Readonly<Record<string, string>> = {}) {
  const collector = await startSpanCollector();
  const warned: string[] = [];
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment };
  // The constructor of OpenTelemetry's SDK reads these variables from the process.
  Object.assign(process.env, variables);
  try {
    const log = { warn: (_fields: object, text: string) => void warned.push(text) };
    return { collector, tracing: new Tracing(log, '1.0.0'), warned };
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

const HTTP = { name: 'POST /graphql', kind: 'SERVER', attributes: {} } as const;
const CALL = { name: 'GET /trading/positions', kind: 'CLIENT', attributes: {} } as const;

/** How many of a hundred requests are recorded. */
async function sampled(environment: Readonly<Record<string, string>>) {
  const { tracing, collector, warned } = await openTracing(environment);
  await using _ = collector;
  for (let index = 0; index < 100; index += 1) {
    const request = tracing.start(HTTP);
    expect(request.traceId).toMatch(/^[0-9a-f]{32}$/);
    tracing.start({ ...CALL, parent: request.context }).end(null);
    request.end(null);
  }
  await tracing[Symbol.asyncDispose]();
  const requests = collector.spans.filter(({ name }) => name === HTTP.name);
  expect(collector.spans).toHaveLength(2 * requests.length);
  return { requests: requests.length, warned };
}

test.each([
  ['always_on', undefined, 100],
  ['always_off', undefined, 0],
  ['parentbased_always_off', undefined, 0],
  ['parentbased_traceidratio', '0', 0],
  ['parentbased_traceidratio', undefined, 100],
  ['traceidratio', 'half', 100],
])(
  'the sampler %s with argument %s records %d of a hundred requests',
  async (name, ratio, count) => {
    const environment = {
      OTEL_TRACES_SAMPLER: name,
      ...(ratio && { OTEL_TRACES_SAMPLER_ARG: ratio }),
    };
    const { requests, warned } = await sampled(environment);
    expect(requests).toBe(count);
    expect(warned).toHaveLength(ratio === 'half' ? 1 : 0);
  },
);

test.each([
  ['OTEL_TRACES_SAMPLER', 'canary'],
  ['OTEL_TRACES_SAMPLER_ARG', 'canary'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'canary'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'canary'],
])('a wrong %s is ignored, with a warning that does not show its value', async (name, value) => {
  const { tracing, collector, warned } = await openTracing({ [name]: value });
  await using _ = collector;
  tracing.start(HTTP).end(null);
  await tracing[Symbol.asyncDispose]();
  expect(collector.spans).toHaveLength(1);
  expect(warned.length).toBeGreaterThan(0);
  expect(warned[0]).toContain(name === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' ? 'export URL' : name);
  expect(warned.join('\n')).not.toContain('canary');
});
