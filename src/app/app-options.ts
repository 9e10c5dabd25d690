import { readFileSync } from 'node:fs';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config.ts';
import type { TradingLimitName } from '../domain/auth/trading-limits.ts';
import {
  CONNECTIONS,
  type ConnectionBounds,
  type EngineLimitName,
  type TeamPlugin,
} from '../engine/index.ts';
import type { Limits } from '../lib/limits/limit.ts';
import type { Log } from '../lib/log.ts';
import type { LogOutput } from '../lib/log-output.ts';
import { plugins } from '../plugins.ts';
import { federated } from '../schema/federation.ts';
import { buildSchema } from '../schema/schema.ts';
import { oldHeapLimit } from './memory-watch.ts';

/** The caches share half of the heap. Catalogs have the largest part, because the gateway needs longest to send them. */
const CACHE_SHARES = {
  catalogs: 0.5,
  sessions: 0.3,
  positions: 0.1,
  documents: 0.1,
} as const;

type CacheBudgets = Readonly<Record<keyof typeof CACHE_SHARES, number>>;

export interface AppOptions {
  readonly log: Log;
  readonly logOutput?: LogOutput;
  readonly schema?: GraphQLSchema;
  readonly connections?: ConnectionBounds;
  /** Limits that replace those of the tables; tests lower them. */
  readonly limits?: Partial<Limits<EngineLimitName | TradingLimitName>>;
  readonly plugins?: readonly TeamPlugin[];
}

export function withDefaults(config: Config, given: AppOptions) {
  const plain = given.schema ?? buildSchema();
  const schema = config.federation ? federated(plain) : plain;
  return {
    ...given,
    schema,
    plugins: given.plugins ?? plugins,
    cacheBytes: cacheBudgets(oldHeapLimit() / 2),
    connections: { ...CONNECTIONS, ...given.connections },
  };
}

export function cacheBudgets(sum: number): CacheBudgets {
  const shares = Object.entries(CACHE_SHARES).map(([name, share]) => [
    name,
    Math.floor(sum * share),
  ]);
  return Object.fromEntries(shares) as CacheBudgets;
}

export function programVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

export function sandboxSettings(config: Config) {
  return {
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
  };
}
