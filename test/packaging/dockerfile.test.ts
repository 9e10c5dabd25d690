import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInContext, parseDockerfile, parseGlobalArguments } from '../support/dockerfile.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { bareEnvironment, buildImage, type Image } from './image-build.ts';

const root = join(import.meta.dirname, '..', '..');
const REVISION = '0123456789abcdef';

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
  expect([...sent].sort()).toEqual(['.npmrc', 'image', 'package-lock.json', 'package.json', 'src']);
});

test('all stages are built from one official Node, exactly the one that is developed on', () => {
  const source = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  const image = `node:${devDependencies.node}-slim`;
  expect(parseGlobalArguments(source)).toEqual({ NODE_IMAGE: image });
  const page = readFileSync(join(root, 'docs', 'container.md'), 'utf8');
  const named = [...page.matchAll(/node:\d[\w.-]*/g)].map(([name]) => name);
  expect(new Set(named)).toEqual(new Set([image]));
  expect(new Set(parseDockerfile(source).map((stage) => stage.image))).toEqual(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's variable, not ours
    new Set(['${NODE_IMAGE}']),
  );
});

describe('the image', () => {
  let image: Image;

  beforeAll(async () => {
    image = await buildImage(root, { REVISION });
  }, 180_000);

  afterAll(() => image[Symbol.dispose]());

  test('holds the bundle and its compile cache, and neither packages nor sources', () => {
    expect(readdirSync(image.workFolder).sort()).toEqual([
      'compile-cache',
      'data',
      'dist',
      'package.json',
    ]);
    expect(bytesIn(image.workFolder)).toBeLessThan(25_000_000);
  });

  test('says what it is and what it was built from', () => {
    const { name, version, license, description, devDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    const { 'org.opencontainers.image.description': about, ...labels } = image.labels;
    expect(description).toContain(about);
    expect(labels).toEqual({
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.revision': REVISION,
      'org.opencontainers.image.base.name': `node:${devDependencies.node}-slim`,
    });
  });

  test('is not run as root, keeps its order records in a volume and listens to the outside', () => {
    // By number, or Kubernetes' `runAsNonRoot` refuses the image.
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(image.volumes).toEqual(['/app/data']);
    expect(existsSync(join(image.rootFolder, '/app/data'))).toBe(true);
    expect(image.env).toEqual({
      NODE_ENV: 'production',
      REVISION,
      NODE_COMPILE_CACHE: 'compile-cache',
      NODE_COMPILE_CACHE_PORTABLE: '1',
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
    expect(outcome.stderr).toBe('');
    expect(outcome.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      level: 'fatal',
      problem: expect.stringMatching(/^GATEWAY_URL is unset: /),
      msg: 'the configuration is wrong',
    });
  });

  test('starts, becomes healthy by its own check, ends by SIGTERM and writes to its volume alone', async () => {
    const [port, adminPort] = await freePorts(2);
    const temporaryFolder = join(image.rootFolder, 'tmp');
    mkdirSync(temporaryFolder);
    const before = filesOf(image.rootFolder);
    const env = {
      ...bareEnvironment(''),
      ...image.env,
      TMPDIR: temporaryFolder,
      SANDBOX: 'on',
      // As with a gateway; the sandbox alone would record orders in memory.
      ORDER_STORE: 'data/orders.db',
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
      await eventually(() => server.exitCode !== null || isHealthy(image, env));
      expect(server.exitCode, output.join('')).toBeNull();
      const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
      expect(await metrics.text()).toContain(
        `trading_graph_build_info{version="0.1.0",revision="${REVISION}"`,
      );
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      expect(await ended, output.join('')).toEqual([0, null]);
      expect(isHealthy(image, env)).toBe(false);
      const written = filesOf(image.rootFolder).filter((file) => !before.includes(file));
      expect(written.filter((file) => !file.startsWith('app/data/'))).toEqual([]);
      expect(written).not.toEqual([]);
    } finally {
      server.kill('SIGKILL');
    }
  }, 60_000);
});

/** Every file with its size and the time of its last change, from the folder's path on. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const stats = lstatSync(join(folder, path));
    // A new file changes its folder as well, but has a line of its own.
    return stats.isDirectory() ? [] : [`${path} ${stats.size} ${stats.mtimeMs}`];
  });
}

function bytesIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sizes = paths.map((path) => lstatSync(join(folder, path))).filter((one) => one.isFile());
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

function isHealthy(image: Image, env: Record<string, string>): boolean {
  expect(image.healthCheck[0]).toBe('node');
  return spawnSync(process.execPath, image.healthCheck.slice(1), { env }).status === 0;
}
