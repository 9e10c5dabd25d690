// Installs what the tests need from outside npm, where this machine lets it: as root, with
// apt-get. Elsewhere the suites that need it are skipped, and this says why.
import { spawnSync } from 'node:child_process';
import { LONG_SUITES } from '../test/support/long-suites.ts';
import {
  chromiumPath,
  haproxyPath,
  prometheusPath,
  promtoolPath,
  redisServerPath,
} from '../test/support/machine.ts';

const deadlineMs = Date.now() + 300_000;

const TOOLS = [
  { name: 'redis-server', path: redisServerPath, variable: 'REDIS_SERVER_PATH' },
  { name: 'haproxy', path: haproxyPath, variable: 'HAPROXY_PATH' },
  { name: 'chromium', path: chromiumPath, variable: 'CHROMIUM_PATH' },
  // Debian and Ubuntu have promtool in the package of the server.
  { name: 'prometheus', path: promtoolPath, variable: 'PROMTOOL_PATH' },
  { name: 'prometheus', path: prometheusPath, variable: 'PROMETHEUS_PATH' },
];

for (const { name, path, variable } of TOOLS) {
  if (path !== null) continue;
  const problem = process.env[variable] ? `${variable} names no program` : bringIn(name);
  if (problem !== null) {
    process.stderr.write(`${name} is not here (${problem}): the tests that need it are skipped.\n`);
  }
}

if (!process.env.CI) {
  process.stderr.write(`Left out here, and run by npm run test:all: ${LONG_SUITES.join(', ')}\n`);
}

function bringIn(name: string): string | null {
  if (process.platform !== 'linux' || !isThere('apt-get')) {
    return 'it can be installed on its own only on Debian and Ubuntu';
  }
  if (process.getuid?.() !== 0) return `"sudo apt-get install ${name}" brings it`;
  process.stderr.write(`Installing ${name} for the tests (once; up to a few minutes) …\n`);
  let problem = aptGet('install', '--no-install-recommends', name);
  if (problem !== null) {
    // The package lists of a fresh container are empty, those of an old machine out of date.
    problem = aptGet('update') ?? aptGet('install', '--no-install-recommends', name);
  }
  return problem;
}

function aptGet(...args: string[]): string | null {
  const { status, stderr, error } = spawnSync('apt-get', ['-y', '-qq', ...args], {
    // A service that starts by itself would hold Redis' usual port; the tests start their own.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: Math.max(1_000, deadlineMs - Date.now()),
  });
  if (status === 0) return null;
  const lastLine = stderr?.trim().split('\n').at(-1);
  return `apt-get ${args[0]}: ${error?.message ?? lastLine ?? `exit code ${status}`}`;
}

function isThere(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}
