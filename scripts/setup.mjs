// Brings node_modules up to date and chooses the Node that everything else runs on. Plain
// JavaScript without dependencies: it has to run on a fresh clone, under any Node from 20 on.
// A start needs Node and the packages of production alone; --all brings what tests and tools need as well.
// The packages are installed beside the former ones and take their place at the end, so that an update that fails
// leaves these as they were.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const OLDEST_FOR_SETUP = 20;
const OLDEST_FOR_THE_PROGRAM = 24;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockFile = join(root, '.setup.lock');
// In the project's folder, and so on its file system: from there a folder can be renamed.
const work = join(root, '.setup');
const newModules = join(work, 'node_modules');
const formerModules = join(work, 'former');
const STAMP = '.setup-stamp';
// What scripts/run.mjs hands over to: the `node` that was found by name before may be an older one.
const RUN_NODE = '.run-node';

const PRODUCTION = 'production';
const ALL = 'all';
const PROGRESS_MS = 5_000;

// Tests that ran once run again: what they need is kept when a start brings the packages up to date.
const wanted = process.argv.includes('--all') || installed().what === ALL ? ALL : PRODUCTION;
let holdsLock = false;

if (majorOf(process.version) < OLDEST_FOR_SETUP) {
  fail(`Node ${OLDEST_FOR_SETUP} or newer is needed; this is ${process.version}.`);
}
if (!isUpToDate()) {
  await lock();
  try {
    // Another start may have done the work while this one waited.
    if (!isUpToDate()) await install();
  } finally {
    unlock();
  }
}

function isUpToDate() {
  const { what, from } = installed();
  return (
    existsSync(join(modules, RUN_NODE)) &&
    (what === ALL || what === wanted) &&
    from === fingerprint(modules)
  );
}

function installed() {
  const [from, what] = read(join(modules, STAMP)).split('\n');
  return { from, what };
}

// npm's own record of what it installed is part of it, so that a later `npm install` or
// `npm prune` by hand is noticed as well as a changed lock file.
function fingerprint(folder) {
  const { dependencies, optionalDependencies, devDependencies, overrides } = manifest();
  const hash = createHash('sha256');
  for (const part of [
    JSON.stringify([dependencies, optionalDependencies, devDependencies, overrides]),
    read(join(root, 'package-lock.json')),
    read(join(root, '.npmrc')),
    read(join(folder, '.package-lock.json')),
    `${process.platform} ${process.arch}`,
  ]) {
    hash.update(part).update('\0');
  }
  return hash.digest('hex');
}

async function install() {
  // The last update may have been killed after it had moved the former packages away.
  if (!existsSync(modules) && existsSync(formerModules)) renameSync(formerModules, modules);
  const isUpdate = existsSync(modules);
  const paths = lockedPaths();
  const whatFor = wanted === ALL ? ', those of the tests among them' : '';
  say(
    `${isUpdate ? 'Updating' : 'Installing'} ${paths.length} packages${whatFor} (once; usually less than a minute) …`,
  );
  prepareFolder();
  const { done, output } = await npmCi(paths);
  const kept = isUpdate ? ' The packages that were installed before are as they were.' : '';
  if (!done) {
    process.stderr.write(`${output.trimEnd()}\n`);
    const isOffline = /E(?:AI_AGAIN|CONN|NOTFOUND|NETUNREACH|TIMEDOUT)/.test(output);
    fail(
      `npm could not install the packages (its own words are above).${isOffline ? ' Is there a network?' : ''}${kept}`,
    );
  }
  chooseNode(kept);
  writeFileSync(join(newModules, STAMP), `${fingerprint(newModules)}\n${wanted}`);
  takeTheirPlace();
}

function prepareFolder() {
  rmSync(work, { recursive: true, force: true });
  for (const workspace of manifest().workspaces ?? []) {
    mkdirSync(join(work, workspace), { recursive: true });
    cpSync(join(root, workspace, 'package.json'), join(work, workspace, 'package.json'));
  }
  mkdirSync(work, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(work, file));
  }
}

function takeTheirPlace() {
  try {
    if (existsSync(modules)) renameSync(modules, formerModules);
    renameSync(newModules, modules);
  } catch (error) {
    if (error.code !== 'EBUSY' && error.code !== 'EXDEV') throw error;
    // A volume that is mounted there cannot be renamed.
    for (const name of readdirSync(modules)) {
      rmSync(join(modules, name), { recursive: true, force: true });
    }
    cpSync(newModules, modules, { recursive: true, verbatimSymlinks: true });
  }
}

/** The folders of the packages that npm is about to fill. */
function lockedPaths() {
  const { packages = {} } = JSON.parse(read(join(root, 'package-lock.json')));
  return (
    Object.entries(packages)
      .filter(([path, { link }]) => path.includes('node_modules/') && !link)
      .filter(([, { dev }]) => wanted === ALL || !dev)
      // Of binaries npm takes only those for this machine.
      .filter(([, { os, cpu, libc }]) => !os && !cpu && !libc)
      .map(([path]) => join(work, path, 'package.json'))
  );
}

async function npmCi(paths) {
  // NODE_ENV=production or a user's npm settings must not leave out what the scripts here need. npm itself may run
  // on an older Node than the packages ask for; none of them has a script that has to run.
  const options = ['--include=optional', '--engine-strict=false', '--ignore-scripts'];
  options.push('--loglevel=error');
  options.push(...(wanted === ALL ? ['--include=dev'] : ['--omit=dev', '--workspaces=false']));
  const inside = process.env.npm_execpath?.endsWith('.js')
    ? [process.env.npm_node_execpath ?? process.execPath, process.env.npm_execpath]
    : ['npm'];
  const [command, ...args] = [...inside, 'ci', ...options];
  const npm = spawn(command, args, {
    cwd: work,
    env: { ...process.env, PATH: pathWithoutOwnBinaries(), ...cacheOfOurOwn() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-1024 * 1024);
    });
  }
  const progress = showProgress(paths);
  try {
    const [status] = await once(npm, 'close');
    return { done: status === 0, output };
  } catch (error) {
    return { done: false, output: `${output}\n${error.message}` };
  } finally {
    clearInterval(progress);
  }
}

/** A line now and then: npm itself shows nothing until it is done. */
function showProgress(paths) {
  const startedAtMs = Date.now();
  return setInterval(() => {
    const count = paths.filter((path) => existsSync(path)).length;
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    say(`  ${count} of ${paths.length} packages, ${seconds} s`);
  }, PROGRESS_MS);
}

/** npm keeps what it fetches; a home may be read-only, or have a cache that belongs to another user. */
function cacheOfOurOwn() {
  const cache = process.env.npm_config_cache ?? join(homedir(), '.npm');
  try {
    const entries = join(cache, '_cacache');
    mkdirSync(entries, { recursive: true });
    for (const folder of [cache, entries]) accessSync(folder, constants.W_OK);
    return {};
  } catch {
    return { npm_config_cache: join(work, 'npm-cache') };
  }
}

// The project's own Node may be about to be replaced.
function pathWithoutOwnBinaries() {
  const own = join(modules, '.bin');
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== own)
    .join(delimiter);
}

function chooseNode(kept) {
  const version = nodeVersion();
  const bundled = join(newModules, nodePackage(), 'bin', 'node');
  const { stdout } = spawnSync(bundled, ['-p', 'process.version'], { encoding: 'utf8' });
  // Relative, so that the project's folder can be moved.
  let chosen = relative(newModules, bundled);
  if (stdout?.trim() !== `v${version}`) {
    if (majorOf(process.version) < OLDEST_FOR_THE_PROGRAM) {
      fail(
        `Node ${version} could not be brought in for ${process.platform}-${process.arch}, and this ` +
          `machine's ${process.version} is too old. Install Node ${OLDEST_FOR_THE_PROGRAM} or newer.${kept}`,
      );
    }
    say(
      `Node ${version} could not be brought in; this machine's ${process.version} is used instead.`,
    );
    // Or `#!/usr/bin/env node` inside npm scripts would find a binary that does not work here.
    rmSync(join(newModules, '.bin', 'node'), { force: true });
    chosen = process.execPath;
  }
  symlinkSync(chosen, join(newModules, RUN_NODE));
}

// Two starts at once on a fresh clone: the second waits, or both would install into one folder.
async function lock() {
  let hasSaid = false;
  for (;;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      holdsLock = true;
      return;
    } catch (error) {
      if (error.code !== 'EEXIST')
        fail(`The packages have to be installed, but not into this folder: ${error.message}`);
    }
    const holder = Number(read(lockFile));
    if (holder > 0 && !isAlive(holder)) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (!hasSaid) say('Waiting for another start that is installing packages …');
    hasSaid = true;
    await sleep(200);
  }
}

function unlock() {
  if (!holdsLock) return;
  // Unless it is all that there is.
  if (existsSync(modules) || !existsSync(formerModules)) {
    rmSync(work, { recursive: true, force: true });
  }
  rmSync(lockFile, { force: true });
  holdsLock = false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function nodeVersion() {
  return Object.values(manifest().optionalDependencies)[0];
}

/** One package for each platform, which npm chooses by what these say of themselves. */
function nodePackage() {
  const isNewMac = process.platform === 'darwin' && process.arch === 'arm64';
  return `${isNewMac ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`;
}

function manifest() {
  return JSON.parse(read(join(root, 'package.json')));
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function majorOf(version) {
  return Number.parseInt(version.slice(1), 10);
}

function say(message) {
  process.stderr.write(`${message}\n`);
}

function fail(message) {
  say(message);
  unlock();
  process.exit(1);
}
