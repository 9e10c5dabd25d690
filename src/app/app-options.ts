import type { GraphQLSchema } from 'graphql';
import { type Config, ConfigError } from '../config.ts';
import { type Clock, steadyClock } from '../lib/clock.ts';
import { oldHeapLimit } from '../lib/heap-limit.ts';
import type { LimitTable } from '../lib/limits/table.ts';
import {
  createLog,
  type Log,
  type LogDestination,
  type LogFormat,
  openLogOutput,
} from '../lib/log.ts';
import type { LogOutput } from '../lib/log-output.ts';
import {
  type GivenPlugin,
  type OpenPlugins,
  openPlugins,
  PluginError,
} from '../plugins/others/open-plugins.ts';
import { buildSchema } from '../schema/schema.ts';
import { type CacheBudgets, cacheBudgets } from './cache-budgets.ts';

export interface AppOptions {
  readonly log?: Log;
  /** Where `log` goes, for metrics. */
  readonly logOutput?: Pick<LogOutput, 'droppedLines'>;
  /** When false, every request takes the general path, which is slower and answers alike. */
  readonly directPath?: boolean;
  /** The schema to serve in place of the whole one. */
  readonly schema?: GraphQLSchema;
  /** The bytes of single caches, in place of their shares; tests lower them. */
  readonly cacheBytes?: Partial<CacheBudgets>;
  readonly connections?: ConnectionLimits;
  /** Limits in place of those of the table; tests lower them. */
  readonly limits?: Partial<LimitTable>;
  /** How long a subscription is silent at most; tests shorten it. */
  readonly heartbeatMs?: number | undefined;
  /** Plugins of envelop or yoga; docs/plugins.md says what they see. */
  readonly plugins?: readonly GivenPlugin[];
}

/** Limits that are the same for every installation; tests lower them. */
export interface ConnectionLimits {
  readonly most?: number;
  /** The bytes that wait for readers, and those of messages and bodies that have not arrived whole. */
  readonly unreadBytes?: number;
  readonly unfinishedBytes?: number;
  /** How long a reader may take no byte, and how long a response waits for its client's other readers. */
  readonly unreadMs?: number;
  readonly patienceMs?: number;
  /** The interval between two pings of a connection. */
  readonly pingMs?: number;
  /** The time within which a message has to arrive whole. */
  readonly unfinishedMs?: number;
  /** How long a connection without a request stays open while the service drains. */
  readonly lingerMs?: number;
  /** The monotonic clock of all that is above and of what a client may send in a minute. */
  readonly clock?: Clock;
}

// This counts sockets too; further connections are closed as soon as they are accepted.
const MAX_CONNECTIONS = 20_000;
const MAX_BYTES = 134_217_728;
const PING_MS = 12_000;
const LINGER_MS = 300;

/** The options with their defaults. */
export type StartOptions = ReturnType<typeof withDefaults>;

export function withDefaults(config: Config, given: AppOptions) {
  const { schema = buildSchema(), directPath = true } = given;
  const log = given.log ?? createAppLog(config, openAppLogOutput(config));
  const plugins = openGiven(schema, given.plugins ?? [], directPath, log);
  return {
    ...given,
    log,
    schema,
    plugins,
    directPath: directPath && plugins.because === null,
    cacheBytes: { ...cacheBudgets(oldHeapLimit() / 2), ...given.cacheBytes },
    connections: {
      most: MAX_CONNECTIONS,
      unreadBytes: MAX_BYTES,
      unfinishedBytes: MAX_BYTES,
      pingMs: PING_MS,
      lingerMs: LINGER_MS,
      clock: steadyClock,
      ...given.connections,
    },
  };
}

/** The log's first line says who serves HTTP. */
function openGiven(
  schema: GraphQLSchema,
  given: readonly GivenPlugin[],
  directPath: boolean,
  log: Log,
): OpenPlugins {
  try {
    const plugins = openPlugins(schema, given, log);
    const because = plugins.because ?? (directPath ? null : '`directPath` is false');
    if (because !== null) log.info({ because }, 'yoga serves all HTTP');
    else if (given.length > 0) log.info({ plugins: given.length }, 'the direct path serves HTTP');
    return plugins;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    throw new ConfigError([error.message]);
  }
}

export function createAppLog(config: Config, destination: LogDestination): Log {
  return createLog({ level: config.logLevel, format: formatOf(config), destination });
}

export function openAppLogOutput(config: Config): LogOutput {
  return openLogOutput(formatOf(config));
}

function formatOf({ sandbox }: Config): LogFormat {
  return sandbox ? 'compact' : 'json';
}
