/**
 * Builds the container image and runs it with a read-only root, without capabilities and as its own user: `npm run
 * image:try`, as root on Debian or Ubuntu. `--prepare` only installs the tools and makes the base image.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '../test/support/free-ports.ts';
import { locate } from '../test/support/machine.ts';
import { installPackage } from './apt-get.ts';

// The limit of each program. Building the image takes half a minute, and making the Debian base takes as long.
const MAX_MS = 180_000;
const MAX_INSTALL_MS = 300_000;
const MAX_APP_BYTES = 25_000_000;
/** The exit code of the service if a setting is missing or wrong. */
const WRONG_CONFIGURATION = 78;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const SHOWN_LINES = 15;
const BASE = 'localhost/image-try-base';
const IMAGE = 'localhost/image-try';
const root = join(import.meta.dirname, '..');

/** Does the same as `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges`. */
const ENTER = `set -e
root=$1 data=$2 user=$3 group=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$data" "$root/app/data"
mount -t proc proc "$root/proc"
exec chroot "$root" setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all --pdeathsig keep env -i -C /app "$@"
`;

interface ImageConfig {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly User: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

if (process.getuid?.() !== 0) throw new Error('only root can build and run the image');
for (const tool of ['buildah', 'mmdebstrap']) {
  if (locate('', [tool]) !== null) continue;
  const problem = installPackage(tool, 'for the image', Date.now() + MAX_INSTALL_MS);
  if (problem !== null) throw new Error(`${tool} is missing: ${problem}`);
}
const debian = debianArchive();
if (process.argv.includes('--prepare')) process.exit();

using folder = fs.mkdtempDisposableSync(join(tmpdir(), 'image-try-'));
const policy = join(folder.path, 'policy.json');
// Images come from no registry, so there is no signature to verify.
fs.writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
try {
  buildBase();
  buildImage();
  const config: ImageConfig = JSON.parse(buildah('inspect', '--type=image', IMAGE)).Docker.config;
  const rootFolder = mountImage(IMAGE).folder;
  const bytes = bytesIn(join(rootFolder, 'app'));
  const licences = fs.readFileSync(join(rootFolder, 'app', 'dist', 'licences.txt'), 'utf8');
  expect(/^graphql 17.*\n\nMIT License/m.test(licences), 'it has the licences of its packages');
  expect(bytes < MAX_APP_BYTES, `/app has ${(bytes / 1e6).toFixed(0)} MB`);
  await tryWithoutGateway(config, rootFolder);
  await tryAsSandbox(config, rootFolder);
} finally {
  buildah('umount', '--all');
  buildah('rm', '--all');
}

/** Returns the path of the Debian base's archive, which is made once. */
function debianArchive(): string {
  const cacheFolder = join(homedir(), '.cache', 'trading-graph');
  const path = join(cacheFolder, 'debian-bookworm.tar');
  if (fs.existsSync(path)) return path;
  fs.mkdirSync(cacheFolder, { recursive: true });
  run('mmdebstrap', [
    '--variant=essential',
    '--format=tar',
    '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
    // Node's binary needs these libraries; the last package keeps Perl out of the base.
    '--include=libatomic1,libstdc++6,usr-is-merged',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
    '--dpkgopt=path-exclude=/usr/share/man/*',
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    'bookworm',
    `${path}.partial`,
  ]);
  fs.renameSync(`${path}.partial`, path);
  return path;
}

/**
 * Makes a base of Debian, the project's Node and this machine's npm. It replaces the official Node image, because this
 * machine may not reach a registry.
 */
function buildBase(): void {
  const npm = locate('NPM_PATH', ['npm']);
  if (npm === null) throw new Error('npm is missing');
  const { container, folder } = mountImage('scratch');
  run('tar', ['-xf', debian, '-C', folder]);
  const local = join(folder, 'usr', 'local');
  fs.copyFileSync(process.execPath, join(local, 'bin', 'node'));
  const modules = join(local, 'lib', 'node_modules', 'npm');
  fs.cpSync(dirname(dirname(fs.realpathSync(npm))), modules, { recursive: true });
  fs.symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
  buildah('commit', '--rm', '--signature-policy', policy, container, BASE);
}

/** Builds by the Dockerfile. Its steps run in a chroot, because a container engine's namespaces may be forbidden. */
function buildImage(): void {
  const flags = ['--isolation=chroot', '--layers=false', '--format=docker', '--pull-never'];
  const values = ['--signature-policy', policy, '--build-arg', `NODE_IMAGE=${BASE}`];
  buildah('build', ...flags, ...values, ...registryAccess(), '-t', IMAGE, root);
}

/** Returns options that mount this machine's access to the npm registry, only for the build's steps: no layer has it. */
function registryAccess(): string[] {
  const config = JSON.parse(run('npm', ['config', 'list', '--json']));
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  const settings: Record<string, unknown> = {
    registry: config.registry,
    'https-proxy': config['https-proxy'],
    'strict-ssl': config['strict-ssl'],
    cafile: authorities ? '/run/authorities.pem' : null,
  };
  const path = join(folder.path, 'npmrc');
  const lines = Object.entries(settings).filter(([, value]) => value !== null);
  fs.writeFileSync(path, lines.map(([name, value]) => `${name}=${value}\n`).join(''));
  fs.mkdirSync(config.cache, { recursive: true });
  const volumes = [`${path}:/root/.npmrc:ro`, `${config.cache}:/root/.npm`];
  if (authorities) volumes.push(`${authorities}:/run/authorities.pem:ro`);
  return volumes.flatMap((volume) => ['--volume', volume]);
}

async function tryWithoutGateway(config: ImageConfig, rootFolder: string): Promise<void> {
  await using container = await startContainer(config, rootFolder, {});
  const code = await container.ended;
  expect(code === WRONG_CONFIGURATION, 'it does not start without a gateway');
  expect(container.output.join().includes('GATEWAY_URL is unset'), 'it names the missing setting');
}

async function tryAsSandbox(config: ImageConfig, rootFolder: string): Promise<void> {
  await using container = await startContainer(config, rootFolder, {
    SANDBOX: 'on',
    ORDER_STORE: 'data/orders.db',
  });
  await container.untilServing();
  expect(await container.isHealthy(), 'its own health check passes');
  expect(
    await container.succeeds('trading-graph', 'orders', 'status'),
    'its command reads the records',
  );
  const status = container.read('status');
  const [user, group] = config.User.split(':');
  expect(
    status.includes(`Uid:\t${user}\t`) && status.includes(`Gid:\t${group}\t`),
    'it runs as its own user',
  );
  expect(user !== '0' && /^\d+$/.test(user ?? ''), 'its user is a number and not root');
  expect(status.includes('CapEff:\t0000000000000000'), 'it has no capability');
  // In a line of `mountinfo` the fifth field is the mount point, and its options follow.
  expect(/^(\S+ ){4}\/ ro\b/m.test(container.read('mountinfo')), 'its root is read-only');
  const query =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  const answer = await fetch(`${container.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect((await answer.text()).includes('LoginSuccess'), 'its sandbox answers');
  expect((await container.stop()) === 0, 'SIGTERM ends it with 0');
  const names = fs.readdirSync(container.volume);
  expect(
    names.some((name) => name.startsWith('orders.db')),
    'its records are in the volume',
  );
}

/** Runs the image's command with its user, its environment and a read-only root. */
async function startContainer(
  config: ImageConfig,
  rootFolder: string,
  environment: Readonly<Record<string, string>>,
) {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const volume = fs.mkdtempSync(join(folder.path, 'volume-'));
  const [user = '', group = ''] = config.User.split(':');
  fs.chownSync(volume, Number(user), Number(group));
  const ports = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`, 'SHUTDOWN_DELAY_MS=0'];
  // The image listens on all addresses, but here it shares the network of this machine.
  const here = ['HOST=127.0.0.1', 'ADMIN_HOST=127.0.0.1', ...ports];
  const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const shell = ['sh', '-c', ENTER, 'sh', rootFolder, volume, user, group];
  const variables = [...config.Env, ...here, ...given];
  const enter = (command: readonly string[]) =>
    spawn('unshare', [...namespaces, ...shell, ...variables, ...command], {
      timeout: MAX_MS,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'inherit'],
    });

  const child = enter(config.Cmd);
  const output: string[] = [];
  const ended: Promise<number | null> = once(child, 'close').then(([code]) => code);
  const serving = new Promise<true>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.push(line);
      if (/\bserving\b/.test(line)) resolve(true);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    volume,
    output,
    ended,
    /** Rejects if the service ends before it serves. */
    async untilServing(): Promise<void> {
      const isServing = await Promise.race([serving, ended.then(() => false)]);
      if (!isServing) throw new Error(`the container ended: ${output.join('\n')}`);
    },
    isHealthy(): Promise<boolean> {
      // The first word is `CMD`, the rest is the command.
      const [, ...command] = config.Healthcheck.Test;
      return this.succeeds(...command);
    },
    async succeeds(...command: readonly string[]): Promise<boolean> {
      const [code] = await once(enter(command), 'exit');
      return code === 0;
    },
    /** A file of the service's process in /proc. */
    read: (name: string) => fs.readFileSync(`/proc/${pidOfChild(child)}/${name}`, 'utf8'),
    stop(): Promise<number | null> {
      process.kill(pidOfChild(child), 'SIGTERM');
      return ended;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The service is the only child of `unshare`. */
function pidOfChild({ pid }: ChildProcess): number {
  return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

/** Makes a container of an image. Returns the container, and the folder that is its root. */
function mountImage(image: string): { readonly container: string; readonly folder: string } {
  const container = buildah('from', '--pull-never', '--signature-policy', policy, image);
  return { container, folder: buildah('mount', container) };
}

function bytesIn(path: string): number {
  const files = fs.readdirSync(path, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + fs.statSync(join(parentPath, name)).size, 0);
}

/** Runs Buildah with its own storage, so that nothing stays on the machine. */
function buildah(...args: readonly string[]): string {
  const storage = ['--root', join(folder.path, 'storage'), '--runroot', join(folder.path, 'run')];
  return run('buildah', [...storage, ...args]);
}

/** Returns what a program prints; throws with its last lines if it fails. */
function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    timeout: MAX_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  const lastLines = stderr?.trim().split('\n').slice(-SHOWN_LINES).join('\n');
  throw new Error(`${command}: ${error?.message ?? lastLines}`);
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the image does not do what it should: ${what}`);
  process.stderr.write(`${what}\n`);
}
