import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseEnvironment } from '../../src/config.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import {
  describeWithDockerCompose,
  describeWithHaproxy,
  describeWithPromtool,
  describeWithRedis,
} from '../support/describe-with.ts';
import { ownFolder } from '../support/own-folder.ts';
import { startTestRedis } from '../support/redis.ts';
import { runCli } from '../support/run-cli.ts';
import {
  compose,
  IMAGE,
  imageEnvironment,
  replicas,
  serviceNamed,
} from './support/compose-file.ts';
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
  test('reads the file, and `.env` next to it has the project name', () => {
    const options = { cwd: folder, encoding: 'utf8', timeout: 50_000 } as const;
    const { stdout, stderr, status } = spawnSync(dockerCompose, ['config', '--services'], options);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout.trim().split('\n').sort()).toEqual(services.map(([name]) => name).sort());
    expect(readDeployed('compose', '.env')).toContain(`COMPOSE_PROJECT_NAME=${IMAGE}\n`);
  });
});

test('every mounted file and named volume exists', () => {
  expect(mounts.length).toBeGreaterThan(5);
  for (const { name, source } of mounts) {
    const isThere = source.startsWith('.')
      ? existsSync(join(folder, source))
      : source in compose.volumes;
    expect(isThere, `${name}: ${source}`).toBe(true);
  }
});

test('the replicas have settings that the service accepts, and time to stop', () => {
  const { healthcheck } = serviceNamed('gateway');
  const [, gatewayPort] = /127\.0\.0\.1:(\d+)/.exec(healthcheck?.test.join() ?? '') ?? [];
  expect(replicas.length).toBeGreaterThan(1);
  for (const [name, { environment, stop_grace_period: grace }] of replicas) {
    const { config, problems, warnings } = parseEnvironment({
      ...imageEnvironment,
      ...environment,
    });
    expect([...problems, ...warnings], name).toEqual([]);
    expect(Object.keys(environment).filter((setting) => !isDocumented(setting))).toEqual([]);
    // The service needs up to 15 seconds to close its stores and to export traces.
    const neededMs = config.shutdownDelayMs + config.shutdownGraceMs + 15_000;
    expect(Number.parseInt(grace ?? '', 10) * 1_000).toBeGreaterThanOrEqual(neededMs);
    expect(environment.TRUSTED_PROXIES).toBe(
      serviceNamed('haproxy').networks?.default.ipv4_address,
    );
    // Without a shared Redis each replica would send orders that the other replica has sent.
    expect(config.redisUrl).toBe('redis://valkey:6379/0');
    expect(config.gatewayUrl).toBe(`http://gateway:${gatewayPort}`);
  }
});

test('the sandbox listens for the other containers', async () => {
  await using other = await startSandbox({ tickMs: 0, instruments: 10 });
  const [_node, _script, ...args] = serviceNamed('gateway').command ?? [];
  // On a port in use the command names its address, and does not start.
  const { err } = await runCli([...args, '--port', String(other.port)]);
  expect(err).toContain(`already in use 0.0.0.0:${other.port}`);
});

test('every image is pinned or built here, and the project’s image has no unneeded rights', () => {
  for (const [name, service] of services) {
    expect(service.image, name).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+$|^trading-graph[\w-]*:local$/);
    if (!service.image.startsWith(`${IMAGE}:`)) continue;
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
  }
});

test('ports are published only on the loopback address', () => {
  const ports = services.flatMap((entry) => entry[1].ports);
  expect(ports.length).toBe(3);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
});

test('the load balancer and Prometheus have the address and port of each replica', () => {
  const { BIND, STATS_BIND, STATS_SOCKET, ...addresses } = serviceNamed('haproxy').environment;
  const { config } = parseEnvironment({ ...imageEnvironment, ...replicas[0]?.[1].environment });
  const addressesAt = (port: number) => replicas.map(([name]) => `${name}:${port}`);
  const numbered = addressesAt(config.port).map((address, i) => [`REPLICA_${i + 1}`, address]);
  expect(addresses).toEqual(Object.fromEntries(numbered));
  const { scrape_configs: jobs } = parse(readDeployed('compose', 'prometheus.yml')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const targetsOf = (job: string) =>
    jobs
      .find(({ job_name: name }) => name === job)
      ?.static_configs.flatMap(({ targets }) => targets);
  expect(targetsOf('trading-graph')).toEqual(addressesAt(config.adminPort));
  expect(targetsOf('trading-graph-haproxy')).toEqual([`haproxy:${STATS_BIND?.split(':')[1]}`]);
  expect(targetsOf('trading-graph-front')).toEqual([
    `http://haproxy:${BIND?.split(':')[1]}/health/ready`,
  ]);
  expect(jobs).toHaveLength(3);
  // /tmp is the only writable folder of the container.
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
  const mounted = ownFolder();

  test('is well-formed with the files that are mounted next to it', () => {
    for (const { name, source, target = '' } of mounts) {
      const [, file] = /^\/etc\/prometheus\/(.+)$/.exec(target) ?? [];
      if (name === 'prometheus' && file) cpSync(join(folder, source), join(mounted.path, file));
    }
    const { status, stderr } = spawnSync(promtool, ['check', 'config', 'prometheus.yml'], {
      cwd: mounted.path,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describeWithRedis('the Redis of the replicas', (path) => {
  test('has options that it accepts', async () => {
    const [, ...args] = serviceNamed('valkey').command ?? [];
    await using redis = await startTestRedis(path, { args });
    expect(await redis.command('CONFIG', 'GET', 'appendfsync')).toContain('always');
  });
});

describeWithHaproxy('the load balancer', (path) => {
  test('accepts its settings', () => {
    const { environment, volumes } = serviceNamed('haproxy');
    const [configuration = ''] = volumes[0]?.split(':') ?? [];
    // The names of the containers do not exist here.
    const local = Object.entries(environment).map(([name, value]) => {
      return [name, value.replace(/^[a-z][\w-]*:/, '127.0.0.1:')];
    });
    const args = ['-c', '-f', join(folder, configuration)];
    const env = Object.fromEntries(local);
    const { status, stderr } = spawnSync(path, args, { env, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });
});

function isDocumented(name: string): boolean {
  return readProject('docs', 'configuration.md').includes(`| \`${name}\` |`);
}
