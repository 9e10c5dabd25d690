// Installs what the tests need from outside npm, where this machine lets it: as root, with
// apt-get. Elsewhere the suites that need it are skipped, and this says why.
import { basename } from 'node:path';
import {
  alertmanagerPath,
  chromiumPath,
  dockerComposePath,
  HEADLESS_SHELL,
  haproxyPath,
  javacPath,
  prometheusPath,
  promtoolPath,
  redisServerPath,
} from '../test/support/machine.ts';
import { bringIn, isOffered } from './apt-get.ts';

const deadlineMs = Date.now() + 300_000;

const TOOLS = [
  { name: 'redis-server', path: redisServerPath, variable: 'REDIS_SERVER_PATH' },
  { name: 'haproxy', path: haproxyPath, variable: 'HAPROXY_PATH' },
  { name: 'docker-compose', path: dockerComposePath, variable: 'DOCKER_COMPOSE_PATH' },
  // 300 MB for one suite, which only a full run brings in.
  ...(process.env.FULL
    ? [{ name: 'default-jdk-headless', path: javacPath, variable: 'JAVAC_PATH' }]
    : []),
  {
    name: 'chromium',
    path: chromiumPath,
    variable: 'CHROMIUM_PATH',
    packages: [HEADLESS_SHELL, 'chromium'],
  },
  // Debian and Ubuntu have promtool in the package of the server.
  { name: 'prometheus', path: promtoolPath, variable: 'PROMTOOL_PATH' },
  { name: 'prometheus', path: prometheusPath, variable: 'PROMETHEUS_PATH' },
  {
    name: 'prometheus-alertmanager',
    path: alertmanagerPath,
    variable: 'ALERTMANAGER_PATH',
  },
];

const missing = TOOLS.filter(({ path }) => path === null);
for (const [at, { name, variable, packages = [name] }] of missing.entries()) {
  const problem = process.env[variable]
    ? `${variable} names no program`
    : bringInOneOf(packages, `${at + 1} of ${missing.length}`);
  if (problem !== null) {
    process.stderr.write(`${name} is not here (${problem}): the tests that need it are skipped.\n`);
  }
}

// Where there is a Chromium already, the leaner one is a choice that takes no new package lists and may fail.
const hasWindow = chromiumPath !== null && basename(chromiumPath) !== HEADLESS_SHELL;
if (hasWindow && !process.env.CHROMIUM_PATH && isOffered(HEADLESS_SHELL)) {
  bringIn(HEADLESS_SHELL, 'a leaner Chromium', deadlineMs);
}

/** The first that can be installed; else why the last can not. */
function bringInOneOf(packages: readonly string[], note: string): string | null {
  let problem: string | null = null;
  for (const name of packages) {
    problem = bringIn(name, note, deadlineMs);
    if (problem === null) return null;
  }
  return problem;
}
