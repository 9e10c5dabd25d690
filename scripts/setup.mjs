// Installs the packages if the lock file has changed. Every npm script runs this first, so that a fresh clone needs no other
// step. The commands after it find the `node` that npm has installed. This file itself runs on any Node from 20 on.
// `node scripts/setup.mjs` installs what the service needs to run. `node scripts/setup.mjs all` also installs the packages
// of the tests and tools.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** Holds the ids of the processes that install. */
const LOCK = '.setup.lock';
/** Holds the hash of the lock file by which packages were installed, and which packages: `all` or `service`. */
const STAMP = 'node_modules/.setup-stamp';
const NODE = 'node_modules/.bin/node';
const OLDEST_NODE = 24;
/** The creator of a lock writes its id at once. A lock that stays empty is of a start that was killed in between. */
const MAX_EMPTY_MS = 5_000;
/** When the registry is asked for an answer, and for how long. */
const PING_AFTER_MS = 10_000;
const PING_TIMEOUT_MS = 15_000;
const KILL_AFTER_MS = 1_000;
/** Runs npm with its usual cache, or with one in this folder if that cache cannot be written. */
const NPM_WITH_CACHE = `home=\${HOME:-.npm-cache}
cache=\${npm_config_cache:-$home/.npm}
mkdir -p "$cache/_cacache" 2>/dev/null
if ! test -w "$cache" || ! test -w "$cache/_cacache"; then cache=.npm-cache; fi
npm_config_cache=$cache exec npm "$@" --engine-strict=false --ignore-scripts --loglevel=error`;
const say = (text) => process.stderr.write(`${text}\n`);
const read = (path) => (fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '');
const parts = [read('package-lock.json'), read('.npmrc'), process.platform, process.arch];
const hash = createHash('sha256').update(parts.join('\0')).digest('hex');
const isTooOld = Number.parseInt(process.versions.node, 10) < OLDEST_NODE;
const wantsAll = process.argv[2] === 'all';
const isInstalled = () => {
  const [installedHash, kind] = read(STAMP).split(' ');
  const hasEnough = kind === 'all' || !wantsAll;
  return installedHash === hash && hasEnough;
};

if (process.platform === 'win32') {
  say('The commands of this project need a Unix shell: on Windows use WSL.');
  process.exit(1);
}
const isLink = fs.lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink();
if (isLink && !isInstalled()) {
  say('node_modules is a link to packages of another lock file, which stay as they are.');
} else if (!isInstalled()) {
  while (!lock()) await setTimeout(1_000);
  if (!isInstalled()) process.exitCode = await install(read(STAMP));
  fs.rmSync(LOCK, { force: true });
}
if (!fs.existsSync(NODE) && isTooOld) {
  say(
    `npm has installed no Node that runs here, and ${process.version} is older than ${OLDEST_NODE}.`,
  );
  process.exitCode = 1;
}

/** Installs the packages. `former` is the stamp of the last installation. Returns npm's exit code. */
async function install(former) {
  // A checkout that has the tests' packages keeps them.
  const isWhole = wantsAll || former.endsWith(' all');
  const kind = isWhole ? 'all' : 'service';
  say(`npm installs the packages of ${isWhole ? 'the service and its tests' : 'the service'} …`);
  fs.rmSync(STAMP, { force: true });
  // If there are former packages, `npm install` keeps them when it fails. `npm ci` would delete them first.
  const args = former === '' ? ['ci'] : ['install', '--no-save'];
  args.push(isWhole ? '--include=dev' : '--omit=dev');
  // A Node from the registry is the service's one optional package.
  args.push(isWhole || isTooOld ? '--include=optional' : '--omit=optional');
  const npm = spawnNpm(args, ['ignore', 2, 2]);
  endWithNpm(npm);
  // A start that is killed may leave npm running, and the next start waits for that npm.
  fs.writeFileSync(LOCK, `${process.pid} ${npm.pid ?? ''}`);
  const timer = setInterval(() => say(`  ${Math.round(process.uptime())} s …`), 5_000);
  const ended = new AbortController();
  const reported = reportRegistry(ended.signal);
  const [status] = await once(npm, 'close').finally(() => clearInterval(timer));
  ended.abort();
  await reported;
  const tried = spawnSync(NODE, ['--version'], { encoding: 'utf8' });
  if (tried.status !== 0) fs.rmSync(NODE, { force: true });
  if (isTooOld && tried.stderr) say(tried.stderr.trim());
  if (/libatomic/.test(tried.stderr)) say('On Debian and Ubuntu: apt-get install libatomic1');
  if (status !== 0) say('npm could not install the packages, and says above why.');
  const hasNode = tried.status === 0 || !isTooOld;
  const isComplete = status === 0 && hasNode;
  // A failure keeps the former stamp, which has another hash or stands for fewer packages. So the next start tries again.
  const stamp = isComplete ? `${hash} ${kind}` : former;
  if (stamp !== '') fs.writeFileSync(STAMP, stamp);
  return status;
}

function spawnNpm(args, stdio) {
  return spawn('sh', ['-c', NPM_WITH_CACHE, 'npm', ...args], { stdio });
}

/** Ends npm when this process is told to end: npm itself goes on after the SIGINT that Ctrl-C sends to both. */
function endWithNpm(npm) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, async () => {
      npm.kill('SIGTERM');
      const killed = setTimeout(KILL_AFTER_MS).then(() => npm.kill('SIGKILL'));
      if (npm.exitCode === null && npm.signalCode === null) {
        await Promise.race([once(npm, 'exit'), killed]);
      }
      fs.rmSync(LOCK, { force: true });
      process.exit(1);
    });
  }
}

/** Says that the registry does not answer. npm is silent about it, and tries again for minutes. */
async function reportRegistry(signal) {
  try {
    await setTimeout(PING_AFTER_MS, undefined, { signal });
    const args = ['ping', '--fetch-retries=0', `--fetch-timeout=${PING_TIMEOUT_MS}`];
    const ping = spawnNpm(args, ['ignore', 'ignore', 'pipe']);
    signal.addEventListener('abort', () => ping.kill());
    const output = await text(ping.stderr);
    const [, registry = ''] = /(https?:\S+)\/-\/ping/.exec(output) ?? [];
    const [, code = ''] = /error code (\S+)/.exec(output) ?? [];
    // A registry without this address, or that wants a sign-in, has answered.
    if (signal.aborted || code === '' || /^E4\d\d$/.test(code)) return;
    say(`The registry ${registry} does not answer (${code}). npm keeps trying for some minutes.`);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Takes the lock. Returns false if the caller has to try again. */
function lock() {
  try {
    if (!fs.existsSync(LOCK)) {
      fs.writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
      return true;
    }
    const holders = read(LOCK).split(' ').filter(Boolean);
    const isBeingWritten = Date.now() - fs.statSync(LOCK).mtimeMs < MAX_EMPTY_MS;
    const isHeld = holders.length === 0 ? isBeingWritten : holders.some(isAlive);
    if (isHeld) say('Another start is installing the packages …');
    else fs.rmSync(LOCK, { force: true });
    return false;
  } catch ({ code, message }) {
    // Another start has taken or removed the lock meanwhile.
    if (/EEXIST|ENOENT/.test(code)) return false;
    say(`No packages can be installed here: ${message}`);
    return process.exit(1);
  }
}

/** Signal 0 ends no process: it only fails if there is none, or if it belongs to another user. */
function isAlive(pid) {
  try {
    return process.kill(Number(pid), 0);
  } catch ({ code }) {
    return code === 'EPERM';
  }
}
