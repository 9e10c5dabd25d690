import { describe } from 'vitest';
import {
  alertmanagerPath,
  chromiumPath,
  dockerComposePath,
  haproxyPath,
  promtoolPath,
  redisServerPath,
} from './machine.ts';

type DescribeWith = (name: string, suite: (path: string) => void) => void;

/** Suites with a real program. If the machine lacks the program they are skipped, with the reason in their names. */
export const describeWithRedis = describeWith('redis-server', redisServerPath);
export const describeWithHaproxy = describeWith('haproxy', haproxyPath);
/** Reading a file needs no daemon. */
export const describeWithDockerCompose = describeWith('docker-compose', dockerComposePath);
export const describeWithChromium = describeWith('Chromium', chromiumPath);
/** Prometheus' own checker. */
export const describeWithPromtool = describeWith('promtool', promtoolPath);
export const describeWithAlertmanager = describeWith('prometheus-alertmanager', alertmanagerPath);

function describeWith(program: string, path: string | null): DescribeWith {
  return (name, suite) => {
    if (path === null) describe.skip(`${name} (no ${program} here)`, () => suite(''));
    else describe(name, () => suite(path));
  };
}
