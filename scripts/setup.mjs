// Installs the packages if the lock file has changed. Every npm script runs this first, so that a fresh clone needs no other
// step. The commands after it find the `node` that npm has installed. This file itself runs on any Node from 20 on.
// `node scripts/setup.mjs` installs what the service needs to run, `node scripts/setup.mjs all` the tests' and tools' packages too.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const [LOCK, STAMP, NODE] = ['.setup.lock', 'node_modules/.setup-stamp', 'node_modules/.bin/node'];
const NPM_WITH_CACHE = `cache=\${npm_config_cache:-\${HOME:-.npm-cache}/.npm}
mkdir -p "$cache/_cacache" 2>/dev/null && test -w "$cache" && test -w "$cache/_cacache" || cache=.npm-cache
npm_config_cache=$cache exec npm "$@" --engine-strict=false --ignore-scripts --loglevel=error`;
const say = (text) => process.stderr.write(`${text}\n`);
const read = (path) => (fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '');
const parts = [read('package-lock.json'), read('.npmrc'), process.platform, process.arch];
const hash = createHash('sha256').update(parts.join('\0')).digest('hex');
const isTooOld = Number.parseInt(process.versions.node, 10) < 24;
const isInstalled = () => {
  const [of, kind] = read(STAMP).split(' ');
  return of === hash && (kind === 'all' || process.argv[2] !== 'all');
};

const isLink = fs.lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink();
if (isLink && !isInstalled()) {
  say('node_modules is a link to packages of another lock file, which stay as they are.');
} else if (!isInstalled()) {
  while (!lock()) spawnSync('sleep', ['2']);
  if (!isInstalled()) process.exitCode = await install(read(STAMP));
  fs.rmSync(LOCK);
}
if (!fs.existsSync(NODE) && isTooOld) {
  say(`npm has installed no Node that runs here, and ${process.version} is older than 24.`);
  process.exitCode = 1;
}

async function install(former) {
  // A checkout that has the tests' packages keeps them.
  const kind = process.argv[2] === 'all' || former.endsWith(' all') ? 'all' : 'service';
  say(
    `npm installs the packages of ${kind === 'all' ? 'the service and its tests' : 'the service'} …`,
  );
  fs.rmSync(STAMP, { force: true });
  // If there are former packages, `npm install` keeps them when it fails. `npm ci` would delete them first.
  const args = former === '' ? ['ci'] : ['install', '--no-save'];
  // A Node from the registry is the service's one optional package.
  const isWhole = kind === 'all';
  args.push(isWhole ? '--include=dev' : '--omit=dev');
  args.push(isWhole || isTooOld ? '--include=optional' : '--omit=optional');
  const npm = spawn('sh', ['-c', NPM_WITH_CACHE, 'npm', ...args], { stdio: ['ignore', 2, 2] });
  // A start that is killed may leave npm behind, which the next one waits for.
  fs.writeFileSync(LOCK, `${process.pid} ${npm.pid ?? ''}`);
  const timer = setInterval(() => say(`  ${Math.round(process.uptime())} s …`), 5_000);
  const [status] = await once(npm, 'close').finally(() => clearInterval(timer));
  const tried = spawnSync(NODE, ['--version'], { encoding: 'utf8' });
  if (tried.status !== 0) fs.rmSync(NODE, { force: true });
  if (isTooOld && tried.stderr) say(tried.stderr.trim());
  if (/libatomic/.test(tried.stderr)) say('On Debian and Ubuntu: apt-get install libatomic1');
  if (status !== 0) say('npm could not install the packages, and says above why.');
  // Without a Node that runs, the next start tries again.
  const isComplete = status === 0 && (tried.status === 0 || !isTooOld);
  if (isComplete || former !== '') fs.writeFileSync(STAMP, isComplete ? `${hash} ${kind}` : former);
  return status;
}

function lock() {
  try {
    const holders = read(LOCK).split(' ').filter(Boolean);
    const isAlive = (pid) => spawnSync('sh', ['-c', 'kill -0 "$0"', pid]).status === 0;
    if (holders.length === 0) fs.writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
    else if (holders.some(isAlive)) say('Another start is installing the packages …');
    else fs.rmSync(LOCK, { force: true });
    return holders.length === 0;
  } catch ({ code, message }) {
    // Another start has taken or removed the lock meanwhile.
    if (/EEXIST|ENOENT/.test(code)) return false;
    say(`No packages can be installed here: ${message}`);
    return process.exit(1);
  }
}
