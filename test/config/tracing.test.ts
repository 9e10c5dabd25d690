import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test.each([
  ['an endpoint', ON, true],
  ['one for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces' }, true],
  ['the words for on', { ...ON, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['nothing', {}, false],
  ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ['others alone', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, false],
  ['OTEL_SDK_DISABLED', { ...ON, OTEL_SDK_DISABLED: 'True' }, false],
  ['no exporter', { ...ON, OTEL_TRACES_EXPORTER: 'none' }, false],
])('of OpenTelemetry’s variables, %s decide whether spans are exported', (_, environment, isOn) => {
  expect(readConfig(environment).tracing).toBe(isOn);
});
