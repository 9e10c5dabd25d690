import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/settings.ts';
import { parseEnvironment } from '../../src/config.ts';
import { parseDockerfile } from '../support/dockerfile.ts';
import { imageEnvironment } from './support/compose-file.ts';
import { deployFolder, readDeployed, readProject } from './support/files.ts';

const NAME = 'trading-graph';
// biome-ignore lint/suspicious/noExplicitAny: the manifests have different shapes
const manifest = (file: string): any => parse(readDeployed('kubernetes', file));
const kustomization = manifest('kustomization.yaml');
const deployment = manifest('deployment.yaml');
const { template } = deployment.spec;
const [service] = template.spec.containers;
const settings: Readonly<Record<string, string>> = manifest('config-map.yaml').data;
const labels = { app: NAME };
const selector = { matchLabels: labels };

interface Port {
  readonly name: string;
  readonly port: number;
  readonly containerPort: number;
}

test('the manifests belong to the service, and kustomize lists each file', () => {
  for (const name of [service.name, kustomization.namespace, kustomization.images[0].name]) {
    expect(name).toBe(NAME);
  }
  expect([deployment.spec.selector, template.metadata.labels]).toEqual([selector, labels]);
  expect(service.envFrom).toEqual([{ configMapRef: { name: NAME } }]);
  const { metadata } = manifest('namespace.yaml');
  expect(metadata.name).toBe(kustomization.namespace);
  expect(metadata.labels).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  // All but the last are added by hand where they are wanted.
  const operators = ['pod-monitor.yaml', 'prometheus-rule.yaml'];
  const unlisted = ['autoscaler-sockets.yaml', 'ingress.yaml', ...operators, 'kustomization.yaml'];
  const expected = [...kustomization.resources, ...unlisted];
  const files = readdirSync(join(deployFolder, 'kubernetes')).filter((name) => /yaml$/.test(name));
  expect(expected.sort()).toEqual(files.sort());
});

test('a pod has no unneeded rights, and ends only after its replacement is ready', () => {
  expect(template.spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [{ name: 'tmp', emptyDir: {} }],
  });
  expect(service.securityContext).toEqual({
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
});

const SAMPLE_SECRETS: Readonly<Record<string, string>> = {
  REDIS_URL: 'redis://redis:6379/0',
  LOG_ACCOUNT_KEY: 'k'.repeat(64),
  GATEWAY_HEADERS: '{"x-api-key":"secret"}',
};
const secrets = Object.fromEntries(
  service.env.map(({ name }: Port) => [name, SAMPLE_SECRETS[name] ?? '']),
);
const { config, problems, warnings } = parseEnvironment({
  ...imageEnvironment,
  ...settings,
  ...secrets,
});

test('the service accepts every setting, and the manifests contain no secret', () => {
  expect([...problems, ...warnings]).toEqual([]);
  const names = [...Object.keys(settings), ...Object.keys(secrets)];
  expect(names.filter((name) => !(name in SETTINGS))).toEqual([]);
  const isSecret = (name: string) => name in secrets || /SECRET/.test(name);
  expect(Object.keys(settings).filter(isSecret)).toEqual([]);
  // A secret's value is a reference.
  for (const { name, ...rest } of service.env) {
    expect(rest, name).toEqual({
      valueFrom: { secretKeyRef: expect.objectContaining({ name: NAME }) },
    });
  }
  // Pods share no disk, so without Redis a pod would send orders that another pod has sent.
  expect(config.redisUrl).not.toBeNull();
  // Few accounts must not be able to fill the store of order records.
  expect(settings).toHaveProperty('ORDER_RECORDS_PER_ACCOUNT');
  expect(config.orderRecordsMax / config.orderRecordsPerAccount).toBeGreaterThanOrEqual(400);
});

test('ports and probes fit the service, and a probe has the timeout of haproxy’s check', () => {
  const portOf = (name: string) =>
    service.ports.find((port: Port) => port.name === name)?.containerPort;
  expect([portOf('http'), portOf('admin')]).toEqual([config.port, config.adminPort]);
  const { startupProbe, livenessProbe, readinessProbe } = service;
  expect(startupProbe.httpGet).toEqual({ path: '/health/live', port: 'admin' });
  expect(livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'admin' });
  expect(readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'http' });
  // The timeout is long, because a busy pod must not be removed.
  const [, seconds] = /timeout check (\d+)s/.exec(readDeployed('haproxy', 'haproxy.cfg')) ?? [];
  for (const { timeoutSeconds } of [startupProbe, livenessProbe, readinessProbe]) {
    expect(timeoutSeconds).toBe(Number(seconds));
  }
});

test('a pod that shuts down serves until its probe has failed, and has enough time to end', () => {
  const { readinessProbe: probe } = service;
  const noticedAfterMs = probe.periodSeconds * probe.failureThreshold * 1_000;
  expect(config.shutdownDelayMs).toBeGreaterThanOrEqual(2 * noticedAfterMs);
  const graceMs = template.spec.terminationGracePeriodSeconds * 1_000;
  // After the settings' times the service has 15 seconds to close its stores and to export traces.
  expect(graceMs).toBe(config.shutdownDelayMs + config.shutdownGraceMs + 15_000);
});

test('the image is named by its digest, and runs as its own user', () => {
  expect(service.image).toBe(NAME);
  const digest = expect.stringMatching(/^sha256:[\da-f]{64}$/);
  expect(kustomization.images).toEqual([{ name: NAME, newName: expect.any(String), digest }]);
  const user = parseDockerfile(readProject('Dockerfile'))
    .at(-1)
    ?.instructions.find(({ name }) => name === 'USER')?.rest;
  const { runAsUser, runAsGroup } = template.spec.securityContext;
  expect(`${runAsUser}:${runAsGroup}`).toBe(user);
});

test('the Kubernetes Service selects the pods, of which at most one may be unavailable', () => {
  const { spec } = manifest('service.yaml');
  expect(spec.selector).toEqual(labels);
  expect(spec.ports).toEqual([{ name: 'http', port: expect.any(Number), targetPort: 'http' }]);
  expect(manifest('disruption-budget.yaml').spec).toEqual({ maxUnavailable: 1, selector });
});

test('the Prometheus Operator scrapes the admin port of each pod under the job of the rules, and has all rules', () => {
  const { spec } = manifest('pod-monitor.yaml');
  expect(spec.selector).toEqual(selector);
  expect(template.metadata.labels[spec.jobLabel]).toBe(NAME);
  const ports = service.ports.map(({ name }: Port) => name);
  const [endpoint] = spec.podMetricsEndpoints;
  expect(ports).toContain(endpoint.port);
  expect(manifest('service.yaml').spec.ports.map(({ name }: Port) => name)).not.toContain(
    endpoint.port,
  );
  const alerts = parse(readDeployed('prometheus', 'alerts.yml'));
  expect(alerts.groups).not.toEqual([]);
  expect(manifest('prometheus-rule.yaml').spec).toEqual(alerts);
});

test('the autoscaler uses the CPU and a metric of the service', () => {
  const { spec } = manifest('autoscaler.yaml');
  expect(spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: NAME });
  expect(spec.metrics[0].resource.name).toBe('cpu');
  expect(spec.behavior.scaleDown.stabilizationWindowSeconds).toBeGreaterThan(0);
  expect(spec.minReplicas).toBeGreaterThan(1);
  // A comment in the config map states the gateway's rate. The maximum number of pods share this rate.
  const [, gatewayRate] =
    /the gateway takes (\d+) a second/.exec(readDeployed('kubernetes', 'config-map.yaml')) ?? [];
  const maxPods = spec.maxReplicas + deployment.spec.strategy.rollingUpdate.maxSurge;
  expect(config.gatewayPollsPerSecond * maxPods).toBe(Number(gatewayRate));
  expect(spec.maxReplicas).toBeGreaterThan(spec.minReplicas);
  expect(spec.metrics).toHaveLength(1);
  const [{ op, path, value }] = manifest('autoscaler-sockets.yaml');
  expect([op, path]).toEqual(['add', '/spec/metrics/-']);
  const { pods } = value;
  expect(readProject('docs', 'metrics.md')).toMatch(
    new RegExp(`^- \`${pods.metric.name}\`: (?!Histogram)`, 'm'),
  );
  expect(readDeployed('kubernetes', 'autoscaler-sockets.yaml')).toContain(
    `{ as: ${pods.metric.name} }`,
  );
});

test('the trusted proxies are the ingress, not a network of pods', () => {
  expect(config.trustedProxies.length).toBeGreaterThan(0);
  for (const network of config.trustedProxies) {
    // A network with this prefix has at most sixteen addresses.
    const prefixLength = Number(network.split('/')[1] ?? 32);
    expect(prefixLength, network).toBeGreaterThanOrEqual(28);
  }
});

test('the network policy allows connections to the service’s ports, and to the targets of its settings', () => {
  const { spec } = manifest('network-policy.yaml');
  expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
  expect(spec.podSelector).toEqual(selector);
  const portsOf = (rules: { readonly ports: readonly Port[] }[]) =>
    rules.flatMap(({ ports }) => ports.map(({ port }) => port));
  expect(portsOf(spec.ingress)).toEqual(service.ports.map(({ name }: Port) => name));
  for (const { to } of spec.egress) expect(to).toHaveLength(1);
  const gatewayPort = Number(new URL(config.gatewayUrl ?? '').port || 443);
  // The ports of DNS, the gateway, Redis, and OTLP over HTTP. The documentation's examples have the last two.
  expect([...new Set(portsOf(spec.egress))]).toEqual([53, gatewayPort, 6379, 4318]);
  expect(readProject('docs', 'order-records.md')).toContain('host:6379');
  expect(readProject('docs', 'traces.md')).toContain(':4318');
});
