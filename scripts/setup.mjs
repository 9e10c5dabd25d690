// Brings node_modules up to date and chooses the Node that everything else runs on. Plain
// JavaScript without dependencies: it has to run on a fresh clone, under any Node from 20 on.
// A start needs Node and the packages of production alone; --all brings what tests and tools need as well.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const OLDEST_FOR_SETUP = 20;
const OLDEST_FOR_THE_PROGRAM = 24;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.setup-stamp');
const lockFile = join(root, '.setup.lock');
// What scripts/run.mjs hands over to: the `node` that was found by name before may be an older one.
const runNode = join(modules, '.run-node');

const PRODUCTION = 'production';
const ALL = 'all';
const PROGRESS_MS = process.stderr.isTTY ? 200 : 5_000;

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
  return existsSync(runNode) && (what === ALL || what === wanted) && from === fingerprint();
}

function installed() {
  const [from, what] = read(stampFile).split('\n');
  return { from, what };
}

// npm's own record of what it installed is part of it, so that a later `npm install` or
// `npm prune` by hand is noticed as well as a changed lock file.
function fingerprint() {
  const { dependencies, optionalDependencies, devDependencies, overrides, allowScripts } =
    manifest();
  const hash = createHash('sha256');
  for (const part of [
    JSON.stringify([dependencies, optionalDependencies, devDependencies, overrides, allowScripts]),
    read(join(root, 'package-lock.json')),
    read(join(root, '.npmrc')),
    read(join(modules, '.package-lock.json')),
    `${process.platform} ${process.arch}`,
  ]) {
    hash.update(part).update('\0');
  }
  return hash.digest('hex');
}

async function install() {
  const paths = lockedPaths();
  const what = existsSync(modules) ? 'Updating' : 'Installing';
  const whatFor = wanted === ALL ? ', those of the tests among them' : '';
  say(`${what} ${paths.length} packages${whatFor} (once; usually less than a minute) …`);
  const { done, output } = await npmCi(paths);
  if (!done) {
    process.stderr.write(`${output.trimEnd()}\n`);
    fail('npm could not install the packages (its own words are above). Is there a network?');
  }
  chooseNode();
  writeFileSync(stampFile, `${fingerprint()}\n${wanted}`);
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
      .map(([path]) => join(root, path, 'package.json'))
  );
}

async function npmCi(paths) {
  // NODE_ENV=production or a user's npm settings must not leave out what the scripts here need.
  // Node's package is an optional one: where its install script cannot fetch the binary, all others still come.
  const options = ['--include=optional', '--ignore-scripts=false', '--loglevel=error'];
  options.push(...(wanted === ALL ? ['--include=dev'] : ['--omit=dev', '--workspaces=false']));
  const inside = process.env.npm_execpath?.endsWith('.js')
    ? [process.env.npm_node_execpath ?? process.execPath, process.env.npm_execpath]
    : ['npm'];
  const [command, ...args] = [...inside, 'ci', ...options];
  const npm = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOwnBinaries() },
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
    progress.end();
  }
}

/** A line that a terminal rewrites; in a log, one now and then. npm itself shows nothing until it is done. */
function showProgress(paths) {
  const startedAtMs = Date.now();
  let lastText = '';
  const timer = setInterval(() => {
    const count = paths.filter((path) => existsSync(path)).length;
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    // npm runs install scripts last, and one package has such a script: it fetches Node.
    const now =
      count < paths.length
        ? `${count} of ${paths.length} packages`
        : `${count} packages are here, Node ${nodeVersion()} is being fetched`;
    lastText = `  ${now}, ${seconds} s`;
    if (process.stderr.isTTY) process.stderr.write(`\r${lastText}\x1b[K`);
    else say(lastText);
  }, PROGRESS_MS);
  return {
    end() {
      clearInterval(timer);
      if (process.stderr.isTTY && lastText !== '') process.stderr.write('\r\x1b[K');
    },
  };
}

// While npm replaces node_modules, its scripts must not find the Node in there half replaced.
function pathWithoutOwnBinaries() {
  const own = join(modules, '.bin');
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== own)
    .join(delimiter);
}

function chooseNode() {
  const version = nodeVersion();
  const bundled = join(modules, 'node', 'bin', 'node');
  const { stdout } = spawnSync(bundled, ['-p', 'process.version'], { encoding: 'utf8' });
  // Relative, so that the project's folder can be moved.
  let chosen = relative(modules, bundled);
  if (stdout?.trim() !== `v${version}`) {
    if (majorOf(process.version) < OLDEST_FOR_THE_PROGRAM) {
      fail(
        `Node ${version} could not be brought in for ${process.platform}-${process.arch}, and this ` +
          `machine's ${process.version} is too old. Install Node ${OLDEST_FOR_THE_PROGRAM} or newer.`,
      );
    }
    say(
      `Node ${version} could not be brought in; this machine's ${process.version} is used instead.`,
    );
    // Or `#!/usr/bin/env node` inside npm scripts would find a binary that does not work here.
    rmSync(join(modules, '.bin', 'node'), { force: true });
    chosen = process.execPath;
  }
  rmSync(runNode, { force: true });
  symlinkSync(chosen, runNode);
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
      if (error.code !== 'EEXIST') fail(`${lockFile} cannot be written: ${error.message}`);
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
  if (holdsLock) rmSync(lockFile, { force: true });
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
  return manifest().optionalDependencies.node;
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
