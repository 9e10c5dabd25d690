import { describe } from 'vitest';
import {
  alertmanagerPath,
  chromiumPath,
  dockerComposePath,
  haproxyPath,
  javacPath,
  promtoolPath,
  redisServerPath,
} from './machine.ts';

/** A suite on a real Redis; where the machine has none it is skipped, with the reason in its name. */
export function describeWithRedis(name: string, suite: (redisServerPath: string) => void): void {
  describeWith('redis-server', redisServerPath, name, suite);
}

/** A suite behind a real haproxy; where the machine has none it is skipped, with the reason in its name. */
export function describeWithHaproxy(name: string, suite: (haproxyPath: string) => void): void {
  describeWith('haproxy', haproxyPath, name, suite);
}

/** A suite with docker-compose, which needs no daemon to read a file; where the machine has none it is skipped. */
export function describeWithDockerCompose(
  name: string,
  suite: (dockerComposePath: string) => void,
): void {
  describeWith('docker-compose', dockerComposePath, name, suite);
}

/** A suite with a JDK; where the machine has none it is skipped, with the reason in its name. */
export function describeWithJdk(name: string, suite: (javacPath: string) => void): void {
  describeWith('javac', javacPath, name, suite);
}

/** A suite in a real browser; where the machine has none it is skipped, with the reason in its name. */
export function describeWithChromium(name: string, suite: (chromiumPath: string) => void): void {
  describeWith('Chromium', chromiumPath, name, suite);
}

/** A suite on Prometheus' own checker; where the machine has none it is skipped, with the reason in its name. */
export function describeWithPromtool(name: string, suite: (promtoolPath: string) => void): void {
  describeWith('promtool', promtoolPath, name, suite);
}

/** A suite under a real Alertmanager; where the machine has none it is skipped, with the reason in its name. */
export function describeWithAlertmanager(
  name: string,
  suite: (alertmanagerPath: string) => void,
): void {
  describeWith('prometheus-alertmanager', alertmanagerPath, name, suite);
}

function describeWith(
  program: string,
  path: string | null,
  name: string,
  suite: (path: string) => void,
): void {
  if (path === null) describe.skip(`${name} (no ${program} here)`, () => suite(''));
  else describe(name, () => suite(path));
}
