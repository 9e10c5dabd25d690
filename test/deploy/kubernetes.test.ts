import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SETTINGS } from '../../src/config/settings.ts';
import { parseEnvironment } from '../../src/config.ts';
import { parseDockerfile } from '../support/dockerfile.ts';
import { imageEnvironment } from './support/compose-file.ts';
import { readDeployed, readProject } from './support/files.ts';

const NAME = 'trading-graph';
const kustomization = z
  .strictObject({
    apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
    kind: z.literal('Kustomization'),
    namespace: z.literal(NAME),
    resources: z.array(z.string()),
    images: z.tuple([z.strictObject({ name: z.literal(NAME), newTag: z.string() })]),
  })
  .parse(manifest('kustomization.yaml'));

// Strict, as far as our manifests go, so that a misspelt key is found: Kubernetes itself would ignore many.
const labels = z.strictObject({ app: z.literal(NAME) });
const selector = z.strictObject({ matchLabels: labels });
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  periodSeconds: z.int(),
  failureThreshold: z.int(),
  timeoutSeconds: z.int(),
});
const secretKeyRef = z.strictObject({
  name: z.literal(NAME),
  key: z.string(),
  optional: z.literal(true).optional(),
});

const container = z.strictObject({
  name: z.literal(NAME),
  image: z.string(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
  envFrom: z.tuple([z.strictObject({ configMapRef: z.strictObject({ name: z.literal(NAME) }) })]),
  // A secret is named, and its value is nowhere.
  env: z.array(z.strictObject({ name: z.string(), valueFrom: z.strictObject({ secretKeyRef }) })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  securityContext: z.strictObject({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.tuple([z.strictObject({ name: z.literal('tmp'), mountPath: z.literal('/tmp') })]),
});
const pod = z.strictObject({
  terminationGracePeriodSeconds: z.int(),
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().positive(),
    runAsGroup: z.int().positive(),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z.tuple([
    spread('topology.kubernetes.io/zone'),
    spread('kubernetes.io/hostname'),
  ]),
  containers: z.tuple([container]),
  volumes: z.tuple([z.strictObject({ name: z.literal('tmp'), emptyDir: z.strictObject({}) })]),
});
const deployment = resource('deployment.yaml', 'apps/v1', 'Deployment', {
  selector,
  strategy: z.strictObject({
    rollingUpdate: z.strictObject({ maxUnavailable: z.literal(0), maxSurge: z.int().positive() }),
  }),
  minReadySeconds: z.int(),
  template: z.strictObject({
    metadata: z.strictObject({ labels, annotations: z.record(z.string(), z.string()) }),
    spec: pod,
  }),
});
const { template } = deployment.spec;
const [service] = template.spec.containers;

const { data: settings } = z
  .strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('ConfigMap'),
    metadata: z.strictObject({ name: z.literal(NAME) }),
    data: z.record(z.string(), z.string()),
  })
  .parse(manifest('config-map.yaml'));
const SAMPLE_SECRETS: Readonly<Record<string, string>> = {
  REDIS_URL: 'redis://redis:6379/0',
  LOG_ACCOUNT_KEY: 'k'.repeat(64),
  GATEWAY_HEADERS: '{"x-api-key":"secret"}',
};
const secrets = Object.fromEntries(
  service.env.map(({ name }) => [name, SAMPLE_SECRETS[name] ?? '']),
);
const { config, problems, warnings } = parseEnvironment({
  ...imageEnvironment,
  ...settings,
  ...secrets,
});
const portOf = (name: string) => service.ports.find((port) => port.name === name)?.containerPort;

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
  const { spec } = resource('service.yaml', 'v1', 'Service', {
    selector: labels,
    ports: z.tuple([
      z.strictObject({ name: z.string(), port: z.int(), targetPort: z.literal('http') }),
    ]),
  });
  expect(spec.selector).toEqual(template.metadata.labels);
  const budget = resource('disruption-budget.yaml', 'policy/v1', 'PodDisruptionBudget', {
    maxUnavailable: z.literal(1),
    selector,
  });
  expect(budget.spec.selector).toEqual(deployment.spec.selector);
});

test('the autoscaler goes by the CPU and by a metric that the service has', () => {
  const policies = z.tuple([
    z.strictObject({ type: z.enum(['Pods', 'Percent']), value: z.int(), periodSeconds: z.int() }),
  ]);
  const target = z.strictObject({
    type: z.enum(['Utilization', 'AverageValue']),
    averageUtilization: z.int().optional(),
    averageValue: z.string().optional(),
  });
  const { spec } = resource('autoscaler.yaml', 'autoscaling/v2', 'HorizontalPodAutoscaler', {
    scaleTargetRef: z.strictObject({
      apiVersion: z.literal('apps/v1'),
      kind: z.literal('Deployment'),
      name: z.literal(NAME),
    }),
    minReplicas: z.int(),
    maxReplicas: z.int(),
    metrics: z.tuple([
      z.strictObject({
        type: z.literal('Resource'),
        resource: z.strictObject({ name: z.literal('cpu'), target }),
      }),
      z.strictObject({
        type: z.literal('Pods'),
        pods: z.strictObject({ metric: z.strictObject({ name: z.string() }), target }),
      }),
    ]),
    behavior: z.strictObject({
      scaleUp: z.strictObject({ policies }),
      scaleDown: z.strictObject({ stabilizationWindowSeconds: z.int(), policies }),
    }),
  });
  expect(spec.minReplicas).toBeGreaterThan(1);
  // What the gateway takes, as the config map says, is for all pods that there may be at a time.
  const [, taken] = /the gateway takes (\d+) a second/.exec(readConfigMap()) ?? [];
  const most = spec.maxReplicas + deployment.spec.strategy.rollingUpdate.maxSurge;
  expect(config.gatewayPollsPerSecond * most).toBe(Number(taken));
  expect(spec.maxReplicas).toBeGreaterThan(spec.minReplicas);
  const [, { pods }] = spec.metrics;
  expect(readProject('docs', 'metrics.md')).toContain(`| \`${pods.metric.name}\` | gauge |`);
  expect(readDeployed('kubernetes', 'README.md')).toContain(`{ as: ${pods.metric.name} }`);
});

test('the proxies that are believed are the ingress, and no network of pods', () => {
  expect(config.trustedProxies.length).toBeGreaterThan(0);
  for (const network of config.trustedProxies) {
    expect(Number(network.split('/')[1] ?? 32), network).toBeGreaterThanOrEqual(28);
  }
});

test('the network policy lets in the ports of the service, and out what its settings name', () => {
  const port = z.strictObject({
    port: z.union([z.int(), z.string()]),
    protocol: z.string().optional(),
  });
  const namespace = z.strictObject({
    namespaceSelector: z.strictObject({
      matchLabels: z.strictObject({ 'kubernetes.io/metadata.name': z.string() }),
    }),
  });
  const block = z.strictObject({ ipBlock: z.strictObject({ cidr: z.cidrv4() }) });
  const { spec } = resource('network-policy.yaml', 'networking.k8s.io/v1', 'NetworkPolicy', {
    podSelector: selector,
    policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
    ingress: z.array(z.strictObject({ from: z.tuple([namespace]), ports: z.array(port) })),
    egress: z.array(
      z.strictObject({ to: z.tuple([z.union([namespace, block])]), ports: z.array(port) }),
    ),
  });
  expect(spec.podSelector).toEqual(deployment.spec.selector);
  const open = spec.ingress.flatMap(({ ports }) => ports.map((one) => one.port));
  expect(open).toEqual(service.ports.map(({ name }) => name));
  const out = spec.egress.flatMap(({ ports }) => ports.map((one) => one.port));
  const gatewayPort = Number(new URL(config.gatewayUrl ?? '').port || 443);
  // The ports of Redis, of its Sentinels and of OTLP over HTTP: the documentation's examples have them.
  expect([...new Set(out)]).toEqual([53, gatewayPort, 6379, 26_379, 4_318]);
  expect(readProject('docs', 'redis.md')).toContain('host:26379');
  expect(readProject('docs', 'traces.md')).toContain(':4318');
});

test('kustomize has every manifest, and the namespace asks for the restricted standard', () => {
  const { metadata } = manifest('namespace.yaml') as { metadata: { name: string; labels: object } };
  expect(metadata.name).toBe(kustomization.namespace);
  expect(metadata.labels).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  expect(kustomization.resources.map((file) => (manifest(file) as { kind: string }).kind)).toEqual([
    'Namespace',
    'ConfigMap',
    'Deployment',
    'Service',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
  ]);
});

function spread<Key extends string>(topologyKey: Key) {
  return z.strictObject({
    maxSkew: z.int(),
    topologyKey: z.literal(topologyKey),
    whenUnsatisfiable: z.literal('ScheduleAnyway'),
    labelSelector: selector,
  });
}

function readConfigMap(): string {
  return readDeployed('kubernetes', 'config-map.yaml');
}

function manifest(file: string): unknown {
  return parse(readDeployed('kubernetes', file));
}

function resource<S extends z.ZodRawShape>(file: string, version: string, kind: string, spec: S) {
  return z
    .strictObject({
      apiVersion: z.literal(version),
      kind: z.literal(kind),
      metadata: z.strictObject({ name: z.literal(NAME), labels: labels.optional() }),
      spec: z.strictObject(spec),
    })
    .parse(manifest(file));
}
