/**
 * Builds the container image by its Dockerfile and runs it as docs/container.md says, with a read-only root and
 * without root's rights: `npm run image:try`. It prints what the page documents. As root on Debian or Ubuntu it
 * installs what it needs; elsewhere it fails, since an image that was not run has not been tried.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '../src/sandbox/start.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { locate } from '../test/support/machine.ts';
import { bringIn } from './apt-get.ts';
import { BASE_NAME, writeBaseContext } from './image-try/base.ts';
import { Buildah, type ImageConfig } from './image-try/buildah.ts';
import { Container } from './image-try/container.ts';

const root = join(import.meta.dirname, '..');
const STARTS = 5;
const IDLE_MS = 5_000;
const BASE = 'localhost/image-try-base';
const IMAGE = 'localhost/image-try';

if (process.getuid?.() !== 0) throw new Error('the image is built and run by root alone');
for (const tool of ['buildah', 'mmdebstrap']) {
  const problem = locate('', [tool]) === null ? bringIn(tool, Date.now() + 300_000) : null;
  if (problem !== null) throw new Error(`${tool} is not here: ${problem}`);
}

using buildah = new Buildah(locate('', ['buildah']) ?? 'buildah');
const revision = revisionOf(root);
const baseAtMs = performance.now();
const context = join(buildah.folder, 'base');
writeBaseContext(context, join(homedir(), '.cache', 'trading-graph'));
buildah.build(BASE, context);
const buildAtMs = performance.now();
buildah.build(
  IMAGE,
  root,
  ...['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `REVISION=${revision}`],
  ...registryAccess(buildah.folder),
);
const builtAtMs = performance.now();
const config = buildah.config(IMAGE);
const rootFolder = buildah.mount(IMAGE);
expect(config.Labels['org.opencontainers.image.revision'] === revision, 'it names its revision');

await tryAsSandbox();
const { startSeconds, idleMegabytes } = await measure();
process.stdout.write(`
| The image | |
|---|---|
| its base here | ${BASE_NAME}, Node ${process.versions.node} |
| size of \`/app\` | ${megabytes(bytesIn(join(rootFolder, config.WorkingDir)))} MB |
| start, from the command to the line \`serving\`, median of ${STARTS} | ${startSeconds.toFixed(2)} s |
| resident memory, idle for ${IDLE_MS / 1_000} s | ${idleMegabytes} MB |
| built in | ${seconds(buildAtMs, builtAtMs)} s, after ${seconds(baseAtMs, buildAtMs)} s for the base |
`);

/** What the README offers for a first look: it serves, as nobody, and writes to its volume alone. */
async function tryAsSandbox(): Promise<void> {
  const { container, url, adminUrl } = await start(config, {
    SANDBOX: 'on',
    ORDER_STORE: 'data/orders.db',
  });
  await container.serving();
  expect(await container.isHealthy(), 'its own health check passes');
  const status = container.status();
  expect(status.Uid?.split(/\s+/).every((id) => id === '1000') === true, 'it runs as user 1000');
  expect(status.CapEff === '0000000000000000', 'it has no capability');
  expect(status.NoNewPrivs === '1', 'it can gain no privilege');
  const ready = (await (await fetch(`${adminUrl}/health/ready`)).json()) as { revision?: string };
  expect(ready.revision === revision, 'readiness names the revision');
  const query =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect((await answer.text()).includes('LoginSuccess'), 'its sandbox answers');
  // Whatever it tells a person at a console to open has to be there.
  const offered = container.output.flatMap((line) => /^ {2}\w+ +(http\S+)/.exec(line)?.[1] ?? []);
  expect(offered.length > 0, 'it says what to open');
  for (const address of offered) {
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect(page.ok, `${address}, which it offers, is there`);
  }
  expect((await container.stop()) === 0, 'it ends by SIGTERM with 0');
  const written = readdirSync(join(buildah.folder, 'data-1'));
  expect(
    written.some((name) => name.startsWith('orders.db')),
    'its records are in the volume',
  );
}

/** With a gateway outside, as in production, and the heap that a container of 2 GiB gives. */
async function measure() {
  await using sandbox = await startSandbox({ tickMs: 1_000 });
  const starts: number[] = [];
  let idleMegabytes = 0;
  for (let at = 1; at <= STARTS; at += 1) {
    const { container } = await start(config, {
      GATEWAY_URL: sandbox.url,
      NODE_OPTIONS: '--max-old-space-size=1024',
    });
    starts.push(await container.serving());
    if (at === STARTS) {
      await delay(IDLE_MS);
      idleMegabytes = Math.round(Number.parseInt(container.status().VmRSS ?? '', 10) / 1_000);
    }
    await container.stop();
  }
  const startSeconds = starts.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN;
  return { startSeconds, idleMegabytes };
}

async function start(imageConfig: ImageConfig, environment: Readonly<Record<string, string>>) {
  const [port, adminPort] = await freePorts(2);
  const dataFolder = join(
    buildah.folder,
    `data-${readdirSync(buildah.folder).filter((name) => name.startsWith('data-')).length + 1}`,
  );
  const container = new Container({
    rootFolder,
    dataFolder,
    config: imageConfig,
    environment: {
      ...environment,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      // The image's settings are for a network of its own; this machine's is shared.
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      SHUTDOWN_DELAY_MS: '0',
    },
  });
  return { container, url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
}

/** This machine's way to the registry, mounted for the build's steps alone: no layer has it. */
function registryAccess(folder: string): string[] {
  const settings = ['registry', 'https-proxy', 'strict-ssl'].flatMap((name) => {
    const value = read('npm', 'config', 'get', name);
    return value === 'null' || value === 'undefined' ? [] : [`${name}=${value}`];
  });
  const volumes: string[] = [];
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) {
    settings.push('cafile=/run/authorities.pem');
    volumes.push('--volume', `${authorities}:/run/authorities.pem:ro`);
  }
  const path = join(folder, 'npmrc');
  writeFileSync(path, `${settings.join('\n')}\n`);
  const cache = read('npm', 'config', 'get', 'cache');
  mkdirSync(cache, { recursive: true });
  return [...volumes, '--volume', `${path}:/root/.npmrc:ro`, '--volume', `${cache}:/root/.npm`];
}

/** A checkout that is no repository is an image all the same. */
function revisionOf(folder: string): string {
  const { stdout, status } = spawnSync('git', ['rev-parse', 'HEAD'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : '0'.repeat(40);
}

function read(command: string, ...args: readonly string[]): string {
  const { stdout, status } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
  return stdout.trim();
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the image does not do what it should: ${what}`);
  process.stderr.write(`${what}\n`);
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function seconds(fromMs: number, toMs: number): string {
  return ((toMs - fromMs) / 1_000).toFixed(0);
}
