// Installs programs that tests need and npm does not have, as root with apt-get. If that is impossible, the suites that need
// them are skipped, and this prints the reason.
import { basename } from 'node:path';
import * as machine from '../test/support/machine.ts';
import { installPackage, isOffered } from './apt-get.ts';

const { chromiumPath, HEADLESS_SHELL } = machine;
const MAX_MS = 300_000;
const deadlineMs = Date.now() + MAX_MS;

/** The packages that have each tool. The first package that can be installed is taken. */
const TOOLS: readonly (readonly [path: string | null, variable: string, ...packages: string[]])[] =
  [
    [machine.redisServerPath, 'REDIS_SERVER_PATH', 'redis-server'],
    [machine.haproxyPath, 'HAPROXY_PATH', 'haproxy'],
    [machine.dockerComposePath, 'DOCKER_COMPOSE_PATH', 'docker-compose'],
    [machine.chromiumPath, 'CHROMIUM_PATH', HEADLESS_SHELL, 'chromium'],
    // Debian and Ubuntu have promtool in the package of the server.
    [machine.promtoolPath, 'PROMTOOL_PATH', 'prometheus'],
    [machine.alertmanagerPath, 'ALERTMANAGER_PATH', 'prometheus-alertmanager'],
  ];
// Only a full run installs these 300 MB for one suite.
const ONLY_IN_FULL_RUNS: typeof TOOLS = [
  [machine.firefoxPath, 'FIREFOX_PATH', 'firefox-esr', 'firefox'],
];

const wanted = process.env.FULL ? [...TOOLS, ...ONLY_IN_FULL_RUNS] : TOOLS;
const missing = wanted.filter(([path]) => path === null);
for (const [index, [, variable, ...packages]] of missing.entries()) {
  const note = `${index + 1} of ${missing.length}`;
  const isNamed = Boolean(process.env[variable]);
  const problem = isNamed ? `${variable} names no program` : installFirst(packages, note);
  if (problem === null) continue;
  const name = packages.at(-1);
  process.stderr.write(`${name} is not here (${problem}): the tests that need it are skipped.\n`);
}

// If the machine has another Chromium, the leaner one is optional: no package lists are fetched for it, and it may fail.
const hasOtherChromium = chromiumPath !== null && basename(chromiumPath) !== HEADLESS_SHELL;
if (hasOtherChromium && !process.env.CHROMIUM_PATH && isOffered(HEADLESS_SHELL)) {
  installPackage(HEADLESS_SHELL, 'a leaner Chromium', deadlineMs);
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
