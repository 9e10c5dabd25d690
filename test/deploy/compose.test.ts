import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseEnvironment } from '../../src/config.ts';
import { OrderClient } from '../end-to-end/orders/order-client.ts';
import { buying } from '../end-to-end/orders/order-request.ts';
import {
  describeWithDockerCompose,
  describeWithHaproxy,
  describeWithPromtool,
  describeWithRedis,
} from '../support/describe-with.ts';
import {
  compose,
  IMAGE,
  imageEnvironment,
  replicas,
  serviceNamed,
} from './support/compose-file.ts';
import { proxyAddress, startComposed } from './support/composed.ts';
import { deployFolder, readDeployed, readProject } from './support/files.ts';

const folder = join(deployFolder, 'compose');
const services = Object.entries(compose.services);
const mounts = services.flatMap(([name, { volumes }]) =>
  volumes.map((volume) => ({
    name,
    source: volume.split(':')[0] ?? '',
    target: volume.split(':')[1],
  })),
);

describeWithDockerCompose('docker-compose 1.29', (dockerCompose) => {
  test('reads the file, by the project name that is kept beside it', () => {
    const read = (...args: string[]) =>
      spawnSync(dockerCompose, args, { cwd: folder, encoding: 'utf8', timeout: 50_000 });
    const { stdout, stderr, status } = read('config', '--services');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout.trim().split('\n').sort()).toEqual(services.map(([name]) => name).sort());
    expect(readDeployed('compose', '.env')).toContain(`COMPOSE_PROJECT_NAME=${IMAGE}\n`);
  });
});

test('every image is pinned, ours to the version of the project', () => {
  const { version } = JSON.parse(readProject('package.json')) as { version: string };
  for (const [name, { image }] of services) {
    expect(image, name).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+$/);
    if (image.startsWith(`${IMAGE}:`)) expect(image).toBe(`${IMAGE}:${version}`);
  }
});

test('every mounted file and named volume is there', () => {
  expect(mounts.length).toBeGreaterThan(5);
  for (const { name, source } of mounts) {
    const isThere = source.startsWith('.')
      ? existsSync(join(folder, source))
      : source in compose.volumes;
    expect(isThere, `${name}: ${source}`).toBe(true);
  }
});

test('the replicas have settings that the service accepts, and time to stop', () => {
  expect(replicas.length).toBeGreaterThan(1);
  for (const [name, { environment, stop_grace_period: grace }] of replicas) {
    const { config, problems, warnings } = parseEnvironment({
      ...imageEnvironment,
      ...environment,
    });
    expect([...problems, ...warnings], name).toEqual([]);
    expect(Object.keys(environment).filter((one) => !isDocumented(one))).toEqual([]);
    const needed = config.shutdownDelayMs + config.shutdownGraceMs + 15_000;
    expect(Number.parseInt(grace ?? '', 10) * 1_000).toBeGreaterThanOrEqual(needed);
    expect(environment.TRUSTED_PROXIES).toBe(proxyAddress());
  }
});

test('containers of ours have a read-only root, no capabilities and no way to gain privileges', () => {
  const ours = services.filter(([, { image }]) => image.startsWith(`${IMAGE}:`));
  for (const [name, one] of ours) {
    const { read_only, cap_drop, security_opt, tmpfs } = one;
    expect({ name, read_only, cap_drop, security_opt, tmpfs }).toEqual({
      name,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
  }
});

test('ports of this machine are open to itself alone', () => {
  const ports = services.flatMap((entry) => entry[1].ports);
  expect(ports.length).toBe(3);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
});

test('the load balancer and Prometheus know every replica, by its ports', () => {
  const { BIND, STATS_BIND, STATS_SOCKET, ...addresses } = serviceNamed('haproxy').environment;
  const { config } = parseEnvironment({ ...imageEnvironment, ...replicas[0]?.[1].environment });
  const named = (port: number) => replicas.map(([name]) => `${name}:${port}`);
  expect(addresses).toEqual(
    Object.fromEntries(named(config.port).map((address, at) => [`REPLICA_${at + 1}`, address])),
  );
  const { scrape_configs: jobs } = parse(readDeployed('compose', 'prometheus.yml')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const targetsOf = (job: string) =>
    jobs
      .find(({ job_name: name }) => name === job)
      ?.static_configs.flatMap(({ targets }) => targets);
  expect(targetsOf('trading-graph')).toEqual(named(config.adminPort));
  expect(targetsOf('trading-graph-haproxy')).toEqual([`haproxy:${STATS_BIND?.split(':')[1]}`]);
  expect(targetsOf('trading-graph-front')).toEqual([
    `http://haproxy:${BIND?.split(':')[1]}/health/ready`,
  ]);
  expect(jobs).toHaveLength(3);
  // The one folder of the container that can be written to.
  expect(STATS_SOCKET).toMatch(/^\/tmp\//);
});

test('Grafana finds Prometheus and the folder of the dashboard', () => {
  const { datasources } = parse(readDeployed('compose', 'grafana', 'datasources.yml'));
  const { hostname, port } = new URL(datasources[0].url);
  expect(serviceNamed(hostname).ports).toEqual([`127.0.0.1:${port}:${port}`]);
  const { providers } = parse(readDeployed('compose', 'grafana', 'dashboards.yml'));
  const dashboard = mounts.find(({ source }) => source === '../grafana/trading-graph.json');
  expect(dashboard?.target).toBe(`${providers[0].options.path}/trading-graph.json`);
});

describeWithPromtool('the scrape', (promtool) => {
  test('is well-formed with the files that are mounted beside it', () => {
    const mounted = mkdtempSync(join(tmpdir(), 'compose-prometheus-'));
    try {
      for (const { name, source, target = '' } of mounts) {
        const [, file] = /^\/etc\/prometheus\/(.+)$/.exec(target) ?? [];
        if (name === 'prometheus' && file) cpSync(join(folder, source), join(mounted, file));
      }
      const { status, stderr } = spawnSync(promtool, ['check', 'config', 'prometheus.yml'], {
        cwd: mounted,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(status).toBe(0);
    } finally {
      rmSync(mounted, { recursive: true });
    }
  });
});

describeWithHaproxy('what is composed', (haproxyPath) => {
  describeWithRedis('with a Redis for Valkey', (redisServerPath) => {
    test('signs in and answers a query through the load balancer, and a key is one order on all replicas', async () => {
      await using composed = await startComposed(haproxyPath, redisServerPath);
      const server = (url: string) => ({ url, webSocketUrl: '' });
      const signIn = {
        query:
          'mutation ($email: String!) { login(input: { email: $email, password: "demo" }) { ... on LoginSuccess { accessToken } } }',
        variables: { email: 'demo@example.com' },
      };
      const signedIn = await new OrderClient(server(composed.url), null).send(signIn);
      expect(signedIn).toMatchObject({ data: { login: { accessToken: expect.any(String) } } });
      const { data } = signedIn as { data: { login: { accessToken: string } } };
      const { accessToken } = data.login;
      const client = new OrderClient(server(composed.url), accessToken);
      const query = '{ session { id } positions { id instrument { name } } customerId }';
      expect(await client.send({ query, variables: {} })).toMatchObject({
        data: { session: { id: '700001' }, customerId: 'cus_700001' },
      });
      const replies = [];
      for (const { url } of composed.replicas) {
        const one = new OrderClient(server(url), accessToken);
        replies.push(await one.place(buying('composed')));
      }
      expect(replies.map((reply) => 'replayed' in reply && reply.replayed)).toEqual([false, true]);
      const { operations } = (await (
        await fetch(`${composed.gatewayUrl}/sandbox/calls`)
      ).json()) as { operations: Record<string, number> };
      expect(operations.openPosition).toBe(1);
    });
  });
});

function isDocumented(name: string): boolean {
  return readProject('docs', 'configuration.md').includes(`| \`${name}\` |`);
}
