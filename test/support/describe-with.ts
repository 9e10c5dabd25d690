import { describe } from 'vitest';
import { chromiumPath, redisServerPath } from './machine.ts';

/** A suite on a real Redis; where the machine has none it is skipped, with the reason in its name. */
export function describeWithRedis(name: string, suite: (redisServerPath: string) => void): void {
  describeWith('redis-server', redisServerPath, name, suite);
}

/** A suite in a real browser; where the machine has none it is skipped, with the reason in its name. */
export function describeWithChromium(name: string, suite: (chromiumPath: string) => void): void {
  describeWith('Chromium', chromiumPath, name, suite);
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
