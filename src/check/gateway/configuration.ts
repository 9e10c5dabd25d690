import { settingProblem } from '../../app/usable.ts';
import type { SettingName } from '../../config/settings.ts';
import { type Config, type Environment, parseEnvironment } from '../../config.ts';
import { KEY_SET_TIMEOUT_MS } from '../../domain/auth/verifier.ts';
import { isObject } from '../../lib/is-object.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { findUnusable } from './unusable.ts';

export interface ConfigurationReport {
  /** One line for each problem, as a start prints them. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly config: Config;
  readonly faulty: ReadonlySet<SettingName>;
}

const IN_USE = /^(ADMIN_)?PORT=.*\(listen EADDRINUSE/;

/** Finds everything that would prevent a start with this environment, or make it useless. Changes nothing. */
export async function checkConfiguration(environment: Environment): Promise<ConfigurationReport> {
  const { config, problems, faulty, warnings } = parseEnvironment(environment);
  let storeFault: string | null = null;
  const storeWarnings: string[] = [];
  const [unusable, keySetFault] = await Promise.all([
    findUnusable(config, faulty, {
      onOpen({ records }) {
        storeFault = records.status.degradedReason;
      },
      onWarn: (message) => storeWarnings.push(message),
    }),
    faulty.has('JWT_JWKS_URL') || config.jwtJwksUrl === null
      ? null
      : faultOfKeySet(config.jwtJwksUrl),
  ]);
  return {
    config,
    faulty,
    problems: [
      ...problems,
      // A port in use is only a warning: the service may be running already.
      ...unusable.filter((line) => !IN_USE.test(line)),
      ...unreachable(config, storeFault, keySetFault),
    ],
    warnings: [...warnings, ...storeWarnings, ...unusable.filter((line) => IN_USE.test(line))],
  };
}

/** Reports a Redis or a key set that cannot be used. The service would start, but refuse orders or verify no token. */
function* unreachable(
  { redisUrl, jwtJwksUrl }: Config,
  storeFault: string | null,
  keySetFault: string | null,
): Generator<string> {
  if (redisUrl !== null && storeFault !== null) {
    yield settingProblem('REDIS_URL', redisUrl, storeFault);
  }
  if (jwtJwksUrl !== null && keySetFault !== null) {
    yield settingProblem('JWT_JWKS_URL', jwtJwksUrl, keySetFault);
  }
}

/** Fetches a key set like the service, which follows no redirect. Returns null if it has keys. */
async function faultOfKeySet(url: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(KEY_SET_TIMEOUT_MS);
    const response = await fetch(url, { redirect: 'manual', signal });
    const text = await response.text();
    if (response.status !== 200) return `it is answered with status ${response.status}`;
    return holdsKeys(text) ? null : 'the answer has no keys';
  } catch (error) {
    const { cause } = error as Error;
    return `it cannot be fetched: ${reasonOf(cause instanceof Error ? cause : error)}`;
  }
}

function holdsKeys(text: string): boolean {
  try {
    const set: unknown = JSON.parse(text);
    return isObject(set) && Array.isArray(set.keys) && set.keys.length > 0;
  } catch {
    return false;
  }
}
