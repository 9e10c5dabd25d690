// Installs the programs that the tests and the Kotlin client need and npm does not have: `npm run tools`, as root on Debian
// and Ubuntu. Elsewhere it prints what to install. Without these programs `npm test` skips the suites that need them.
import { basename } from 'node:path';
import * as machine from '../test/support/machine.ts';
import { installPackage, isOffered } from './apt-get.ts';

const { chromiumPath, HEADLESS_SHELL } = machine;
const MAX_MS = 300_000;
const deadlineMs = Date.now() + MAX_MS;

interface Tool {
  readonly path: string | null;
  readonly variable: string;
  /** Packages of Debian or Ubuntu. The first one that can be installed is taken. */
  readonly packages: readonly string[];
}

const TOOLS: readonly Tool[] = [
  tool(machine.redisServerPath, 'REDIS_SERVER_PATH', 'redis-server'),
  tool(machine.haproxyPath, 'HAPROXY_PATH', 'haproxy'),
  tool(machine.dockerComposePath, 'DOCKER_COMPOSE_PATH', 'docker-compose'),
  tool(machine.chromiumPath, 'CHROMIUM_PATH', HEADLESS_SHELL, 'chromium'),
  // Debian and Ubuntu have promtool in the package of the server.
  tool(machine.promtoolPath, 'PROMTOOL_PATH', 'prometheus'),
  tool(machine.alertmanagerPath, 'ALERTMANAGER_PATH', 'prometheus-alertmanager'),
  tool(machine.javaCompilerPath, 'JAVAC_PATH', 'default-jdk-headless'),
  tool(machine.mavenPath, 'MAVEN_PATH', 'maven'),
];

const missing = TOOLS.filter(({ path }) => path === null);
if (missing.length === 0) process.stderr.write('No program is missing.\n');
for (const [index, { variable, packages }] of missing.entries()) {
  const note = `${index + 1} of ${missing.length}`;
  const isNamed = Boolean(process.env[variable]);
  const problem = isNamed ? `${variable} names no program` : installFirst(packages, note);
  if (problem === null) continue;
  process.stderr.write(`${packages.at(-1)} is missing: ${problem}; or set ${variable}\n`);
  process.exitCode = 1;
}

// If the machine has another Chromium, the leaner one is optional: no package lists are fetched for it, and it may fail.
const hasOtherChromium = chromiumPath !== null && basename(chromiumPath) !== HEADLESS_SHELL;
if (hasOtherChromium && !process.env.CHROMIUM_PATH && isOffered(HEADLESS_SHELL)) {
  installPackage(HEADLESS_SHELL, 'a leaner Chromium', deadlineMs);
}

function tool(path: string | null, variable: string, ...packages: readonly string[]): Tool {
  return { path, variable, packages };
}

/** Installs the first of the packages that can be installed. Returns the last problem if none can be. */
function installFirst(packages: readonly string[], note: string): string | null {
  let problem: string | null = null;
  for (const name of packages) {
    problem = installPackage(name, note, deadlineMs);
    if (problem === null) return null;
  }
  return problem;
}
