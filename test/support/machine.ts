import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The programs outside npm that some suites need; null if this machine lacks them. */
export const redisServerPath = locate('REDIS_SERVER_PATH', ['redis-server']);
export const promtoolPath = locate('PROMTOOL_PATH', ['promtool']);
export const alertmanagerPath = locate('ALERTMANAGER_PATH', [
  'prometheus-alertmanager',
  'alertmanager',
]);
export const haproxyPath = locate('HAPROXY_PATH', ['haproxy']);
export const dockerComposePath = locate('DOCKER_COMPOSE_PATH', ['docker-compose']);
/** Chromium without windows, in which a page uses half the CPU. It is a package of Debian, but not of Ubuntu. */
export const HEADLESS_SHELL = 'chromium-headless-shell';
export const chromiumPath = locate('CHROMIUM_PATH', [
  HEADLESS_SHELL,
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]);

/** Build and test the Kotlin client. */
export const javaCompilerPath = locate('JAVAC_PATH', ['javac']);
export const mavenPath = locate('MAVEN_PATH', ['mvn']);

/** Finds a program by its variable if that is set, otherwise by its names. A variable that names no program hides it. */
export function locate(variable: string, names: readonly string[]): string | null {
  const given = process.env[variable];
  if (given) return isAbsolute(given) && isExecutable(given) ? given : null;
  // The PATH of a user who is not root lacks this folder on Debian.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found !== undefined) return found;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
