// Installs programs that tests need and npm does not have, as root with apt-get. If that is impossible, the suites that need
// them are skipped, and this prints the reason.
import { basename } from 'node:path';
import * as machine from '../test/support/machine.ts';
import { bringIn, isOffered } from './apt-get.ts';

const { chromiumPath, HEADLESS_SHELL } = machine;
const deadlineMs = Date.now() + 300_000;

/** The packages that have each tool; the first that can be installed is. */
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
const OF_FULL: typeof TOOLS = [[machine.firefoxPath, 'FIREFOX_PATH', 'firefox-esr', 'firefox']];

const wanted = process.env.FULL ? [...TOOLS, ...OF_FULL] : TOOLS;
const missing = wanted.filter(([path]) => path === null);
for (const [at, [, variable, ...packages]] of missing.entries()) {
  let problem: string | null = `${variable} names no program`;
  for (const name of process.env[variable] ? [] : packages) {
    problem = bringIn(name, `${at + 1} of ${missing.length}`, deadlineMs);
    if (problem === null) break;
  }
  if (problem === null) continue;
  const name = packages.at(-1);
  process.stderr.write(`${name} is not here (${problem}): the tests that need it are skipped.\n`);
}

// If the machine has another Chromium, the leaner one is optional: no package lists are fetched for it, and it may fail.
const hasWindow = chromiumPath !== null && basename(chromiumPath) !== HEADLESS_SHELL;
if (hasWindow && !process.env.CHROMIUM_PATH && isOffered(HEADLESS_SHELL)) {
  bringIn(HEADLESS_SHELL, 'a leaner Chromium', deadlineMs);
}
