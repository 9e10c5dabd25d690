import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInContext, parseDockerfile } from '../support/dockerfile.ts';
import { bareEnvironment, buildImage, type Image } from './image-build.ts';

const root = join(import.meta.dirname, '..', '..');

test('the build context holds the sources of the build, and nothing else', () => {
  const dockerignore = readFileSync(join(root, '.dockerignore'), 'utf8');
  const paths = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const sent = new Set(
    [...paths, '.env', 'data/orders.db', '.git/config', 'node_modules/pino/package.json']
      .filter((path) => isInContext(path, dockerignore))
      .map((path) => path.split('/')[0]),
  );
  expect([...sent].sort()).toEqual(['.npmrc', 'package-lock.json', 'package.json', 'src']);
});

test('both stages are built from one official Node, the one that is developed on', () => {
  const source = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(source) ?? [];
  expect(image).toBe(`node:${devDependencies.node.split('.')[0]}-slim`);
  expect(new Set(parseDockerfile(source).map((stage) => stage.image))).toEqual(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's variable, not ours
    new Set(['${NODE_IMAGE}']),
  );
});

describe('the image', () => {
  let image: Image;

  beforeAll(async () => {
    image = await buildImage(root);
  }, 180_000);

  afterAll(() => image[Symbol.dispose]());

  test('holds production packages only, and no tests', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(image.workFolder, 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    const has = (name: string) => existsSync(join(image.workFolder, 'node_modules', name));
    expect(Object.keys(dependencies).filter((name) => !has(name))).toEqual([]);
    expect(Object.keys(devDependencies).filter(has)).toEqual([]);
    expect(readdirSync(image.workFolder).sort()).toEqual([
      'data',
      'node_modules',
      'package.json',
      'src',
    ]);
  });

  test('is not run as root, keeps its order records in a volume and listens to the outside', () => {
    expect(image.user).toBe('node');
    expect(image.volumes).toEqual(['/app/data']);
    expect(existsSync(join(image.rootFolder, '/app/data'))).toBe(true);
    expect(image.env).toEqual({
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      ADMIN_HOST: '0.0.0.0',
      SHUTDOWN_DELAY_MS: '5000',
    });
  });

  test('does not start without a gateway, and names the missing setting', () => {
    const outcome = spawnSync(process.execPath, image.command.slice(1), {
      cwd: image.workFolder,
      env: { ...bareEnvironment(''), ...image.env },
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(outcome.status).toBeGreaterThan(0);
    expect(outcome.stdout + outcome.stderr).toMatch(/^GATEWAY_URL is unset: .*$/m);
  });

  test('starts, becomes healthy by its own check, and ends by SIGTERM', async () => {
    const [port, adminPort] = await freePorts(2);
    const env = {
      ...bareEnvironment(''),
      ...image.env,
      SANDBOX: 'on',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      // The image's settings are for a container of its own; this machine is not one.
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      SHUTDOWN_DELAY_MS: '100',
    };
    expect(image.command[0]).toBe('node');
    const server = spawn(process.execPath, image.command.slice(1), {
      cwd: image.workFolder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
    }
    try {
      await becomesHealthy(server, () => isHealthy(image, env), output);
      const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
      expect(metrics.status).toBe(200);
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      expect(await ended, output.join('')).toEqual([0, null]);
      expect(isHealthy(image, env)).toBe(false);
    } finally {
      server.kill('SIGKILL');
    }
  }, 60_000);
});

function isHealthy(image: Image, env: Record<string, string>): boolean {
  expect(image.healthCheck[0]).toBe('node');
  return spawnSync(process.execPath, image.healthCheck.slice(1), { env }).status === 0;
}

async function becomesHealthy(
  server: ChildProcess,
  isUp: () => boolean,
  output: readonly string[],
): Promise<void> {
  while (!isUp()) {
    if (server.exitCode !== null) throw new Error(`the server ended:\n${output.join('')}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Reserves all of them together, so that they differ; then releases them. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
