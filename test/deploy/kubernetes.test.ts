import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/settings.ts';
import { parseEnvironment } from '../../src/config.ts';
import { parseDockerfile } from '../support/dockerfile.ts';
import { imageEnvironment } from './support/compose-file.ts';
import { readDeployed, readProject } from './support/files.ts';

const NAME = 'trading-graph';
// A misspelt key would be ignored by Kubernetes.
const KEYS = new Set(
  `apiVersion kind metadata spec data name namespace labels annotations app resources images newTag
  selector matchLabels podSelector strategy rollingUpdate maxUnavailable maxSurge minReadySeconds template
  terminationGracePeriodSeconds automountServiceAccountToken enableServiceLinks securityContext runAsNonRoot
  runAsUser runAsGroup seccompProfile type topologySpreadConstraints maxSkew topologyKey whenUnsatisfiable
  labelSelector containers image ports containerPort envFrom configMapRef env valueFrom secretKeyRef key optional
  startupProbe livenessProbe readinessProbe httpGet path port periodSeconds failureThreshold timeoutSeconds
  requests limits cpu memory readOnlyRootFilesystem allowPrivilegeEscalation capabilities drop volumeMounts
  mountPath volumes emptyDir targetPort scaleTargetRef minReplicas maxReplicas metrics resource target
  averageUtilization averageValue pods metric behavior scaleUp scaleDown policies value
  stabilizationWindowSeconds policyTypes ingress egress from to protocol namespaceSelector ipBlock cidr`.split(
    /\s+/,
  ),
);
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its manifest has
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

test('the manifests have no key that Kubernetes does not know, and are about the service', () => {
  const keysIn = (value: unknown): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, one]) => [
          ...(Array.isArray(value) ? [] : [key]),
          ...(['data', 'annotations'].includes(key) ? [] : keysIn(one)),
        ]);
  const ofStandards = /^[\w.-]+\/[\w.-]+$/;
  for (const file of [...kustomization.resources, 'kustomization.yaml']) {
    const keys = keysIn(manifest(file)).filter((key) => !ofStandards.test(key));
    expect(
      keys.filter((key) => !KEYS.has(key)),
      file,
    ).toEqual([]);
  }
  for (const name of [service.name, kustomization.namespace, kustomization.images[0].name]) {
    expect(name).toBe(NAME);
  }
  expect([deployment.spec.selector, template.metadata.labels]).toEqual([selector, labels]);
  expect(service.envFrom).toEqual([{ configMapRef: { name: NAME } }]);
});

test('a pod has no rights that it does not need, and is spread over zones and nodes', () => {
  const { runAsUser, runAsGroup, ...rest } = template.spec.securityContext;
  expect(rest).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(Math.min(runAsUser, runAsGroup)).toBeGreaterThan(0);
  expect(template.spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    volumes: [{ name: 'tmp', emptyDir: {} }],
    topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map(
      (topologyKey) => ({
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: selector,
      }),
    ),
  });
  expect(service.volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
  expect(service.securityContext).toEqual({
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  const { rollingUpdate } = deployment.spec.strategy;
  expect(rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: expect.any(Number) });
  expect(Object.keys(service.resources.limits)).toEqual(['memory']);
});

test('a secret is named, and its value is nowhere', () => {
  for (const { name, ...rest } of service.env) {
    expect(rest, name).toMatchObject({ valueFrom: { secretKeyRef: { name: NAME } } });
    expect(Object.keys(rest)).toEqual(['valueFrom']);
  }
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
const portOf = (name: string) =>
  service.ports.find((port: Port) => port.name === name)?.containerPort;

test('every setting is one of the service, and has a value that it accepts', () => {
  expect([...problems, ...warnings]).toEqual([]);
  const names = [...Object.keys(settings), ...Object.keys(secrets)];
  expect(names.filter((name) => !(name in SETTINGS))).toEqual([]);
  // Pods share no disk, so without Redis each would send what another has sent.
  expect(config.redisUrl).not.toBeNull();
});

test('an account has a bound of order records, which a few accounts cannot fill the store with', () => {
  for (const name of ['ORDER_RECORDS_MAX', 'ORDER_RECORDS_PER_ACCOUNT']) {
    expect(settings).toHaveProperty(name);
  }
  expect(config.orderRecordsMax / config.orderRecordsPerAccount).toBeGreaterThanOrEqual(600);
});

test('a probe has as long as a check of haproxy, so that a busy pod stays', () => {
  const [, seconds] = /timeout check (\d+)s/.exec(readDeployed('haproxy', 'haproxy.cfg')) ?? [];
  const { startupProbe, livenessProbe, readinessProbe } = service;
  for (const { timeoutSeconds } of [startupProbe, livenessProbe, readinessProbe]) {
    expect(timeoutSeconds).toBe(Number(seconds));
  }
});

test('no setting that may be a secret is in the config map', () => {
  const open = Object.keys(settings).filter(
    (name) => name in SAMPLE_SECRETS || /SECRET/.test(name),
  );
  expect(open).toEqual([]);
});

test('ports and probes are those of the service', () => {
  expect(portOf('http')).toBe(config.port);
  expect(portOf('admin')).toBe(config.adminPort);
  expect(template.metadata.annotations['prometheus.io/port']).toBe(String(config.adminPort));
  expect(service.startupProbe.httpGet).toEqual({ path: '/health/live', port: 'admin' });
  expect(service.livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'admin' });
  expect(service.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'http' });
});

test('a pod that ends is noticed while it still serves, and has the time that its settings take', () => {
  const { readinessProbe: probed } = service;
  const noticedMs = probed.periodSeconds * probed.failureThreshold * 1_000;
  expect(config.shutdownDelayMs).toBeGreaterThanOrEqual(2 * noticedMs);
  const endMs = template.spec.terminationGracePeriodSeconds * 1_000;
  expect(endMs).toBe(config.shutdownDelayMs + config.shutdownGraceMs + 15_000);
});

test('the image is pinned to the version of the project, and runs as the user that it names', () => {
  const { version } = JSON.parse(readProject('package.json')) as { version: string };
  expect(service.image).toBe(`${NAME}:${version}`);
  expect(kustomization.images[0].newTag).toBe(version);
  const user = parseDockerfile(readProject('Dockerfile'))
    .at(-1)
    ?.instructions.find(({ name }) => name === 'USER')?.rest;
  const { runAsUser, runAsGroup } = template.spec.securityContext;
  expect(`${runAsUser}:${runAsGroup}`).toBe(user);
});

test('the service leads to the pods, and one of them at a time may be taken away', () => {
  const { spec } = manifest('service.yaml');
  expect(spec.selector).toEqual(labels);
  expect(spec.ports).toEqual([{ name: 'http', port: expect.any(Number), targetPort: 'http' }]);
  expect(manifest('disruption-budget.yaml').spec).toEqual({ maxUnavailable: 1, selector });
});

test('the autoscaler goes by the CPU and by a metric that the service has', () => {
  const { spec } = manifest('autoscaler.yaml');
  expect(spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: NAME });
  expect(spec.metrics[0].resource.name).toBe('cpu');
  expect(spec.behavior.scaleDown.stabilizationWindowSeconds).toBeGreaterThan(0);
  expect(spec.minReplicas).toBeGreaterThan(1);
  // What the gateway takes, as the config map says, is for all pods that there may be at a time.
  const [, taken] =
    /the gateway takes (\d+) a second/.exec(readDeployed('kubernetes', 'config-map.yaml')) ?? [];
  const most = spec.maxReplicas + deployment.spec.strategy.rollingUpdate.maxSurge;
  expect(config.gatewayPollsPerSecond * most).toBe(Number(taken));
  expect(spec.maxReplicas).toBeGreaterThan(spec.minReplicas);
  const [, { pods }] = spec.metrics;
  expect(readProject('docs', 'metrics.md')).toMatch(
    new RegExp(`^\\| \`${pods.metric.name}\` \\| (?!Histogram)`, 'm'),
  );
  expect(readDeployed('kubernetes', 'README.md')).toContain(`{ as: ${pods.metric.name} }`);
});

test('the proxies that are believed are the ingress, and no network of pods', () => {
  expect(config.trustedProxies.length).toBeGreaterThan(0);
  for (const network of config.trustedProxies) {
    expect(Number(network.split('/')[1] ?? 32), network).toBeGreaterThanOrEqual(28);
  }
});

test('the network policy lets in the ports of the service, and out what its settings name', () => {
  const { spec } = manifest('network-policy.yaml');
  expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
  expect(spec.podSelector).toEqual(selector);
  const portsOf = (rules: { readonly ports: readonly Port[] }[]) =>
    rules.flatMap(({ ports }) => ports.map(({ port }) => port));
  expect(portsOf(spec.ingress)).toEqual(service.ports.map(({ name }: Port) => name));
  for (const { to } of spec.egress) expect(to).toHaveLength(1);
  const gatewayPort = Number(new URL(config.gatewayUrl ?? '').port || 443);
  // The ports of Redis, of its Sentinels and of OTLP over HTTP: the documentation's examples have them.
  expect([...new Set(portsOf(spec.egress))]).toEqual([53, gatewayPort, 6379, 26_379, 4_318]);
  expect(readProject('docs', 'order-records.md')).toContain('host:26379');
  expect(readProject('docs', 'traces.md')).toContain(':4318');
});

test('kustomize has every manifest, and the namespace asks for the restricted standard', () => {
  const { metadata } = manifest('namespace.yaml');
  expect(metadata.name).toBe(kustomization.namespace);
  expect(metadata.labels).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  expect(kustomization.resources.map((file: string) => manifest(file).kind)).toEqual([
    'Namespace',
    'ConfigMap',
    'Deployment',
    'Service',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
  ]);
});
