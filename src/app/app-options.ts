import type { GraphQLSchema } from 'graphql';
import {
  CONNECTIONS,
  type ConnectionBounds,
  type EngineLimitName,
  type OpenPlugins,
  type OtherPlugin,
  openPlugins,
  PluginError,
} from '../../engine/index.ts';
import { extensionName } from '../../lib/extension-code.ts';
import { oldHeapLimit } from '../../lib/heap-limit.ts';
import type { Limits } from '../../lib/limits/limit.ts';
import { createLog, type Log, openLogOutput } from '../../lib/log.ts';
import type { LogOutput } from '../../lib/log-output.ts';
import { type Config, ConfigError } from '../config.ts';
import type { TradingLimitName } from '../domain/auth/limits.ts';
import { federated } from '../schema/federation.ts';
import { buildSchema } from '../schema/schema.ts';
import { type CacheBudgets, cacheBudgets } from './cache-budgets.ts';
import type { SandboxParts } from './embedded-sandbox.ts';
import { maxConnections } from './max-connections.ts';
import { settingProblem } from './resources.ts';

export interface AppOptions {
  readonly log?: Log;
  /** Needed where no gateway is configured. */
  readonly sandbox?: SandboxParts | undefined;
  /** Where `log` goes, for metrics. */
  readonly logOutput?: Pick<LogOutput, 'droppedLines'>;
  /** The schema to serve in place of the whole one. */
  readonly schema?: GraphQLSchema;
  /** The bytes of single caches, in place of their shares; tests lower them. */
  readonly cacheBytes?: Partial<CacheBudgets>;
  readonly connections?: ConnectionBounds;
  /** Limits in place of those of the tables; tests lower them. */
  readonly limits?: Partial<Limits<EngineLimitName | TradingLimitName>>;
  /** How long a subscription is silent at most; tests shorten it. */
  readonly heartbeatMs?: number | undefined;
  /** Plugins of envelop or yoga; docs/plugins.md says what they see. */
  readonly plugins?: readonly OtherPlugin[];
}

export type StartOptions = ReturnType<typeof withDefaults>;

export function withDefaults(config: Config, given: AppOptions) {
  const own = given.schema ?? buildSchema();
  const schema = config.federation ? federated(own) : own;
  const log = given.log ?? openAppLog(config).log;
  const plugins = openGiven(schema, given.plugins ?? [], log, config.plugins);
  return {
    ...given,
    log,
    schema,
    plugins,
    cacheBytes: { ...cacheBudgets(oldHeapLimit() / 2), ...given.cacheBytes },
    connections: { ...CONNECTIONS, most: maxConnections(config), ...given.connections },
  };
}

/** The log's first line says what guards no WebSocket. */
function openGiven(
  schema: GraphQLSchema,
  given: readonly OtherPlugin[],
  log: Log,
  path: string | null,
): OpenPlugins {
  try {
    const plugins = openPlugins(
      schema,
      given,
      log,
      path === null ? undefined : extensionName(path),
    );
    if (plugins.ofHttp.length > 0) {
      log.info({ hooks: plugins.ofHttp }, 'plugins have hooks of HTTP, which run for no WebSocket');
    }
    return plugins;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    const { message } = error;
    throw new ConfigError([path === null ? message : settingProblem('PLUGINS', path, message)]);
  }
}

export function openAppLog({ sandbox, logLevel: level }: Config) {
  const format = sandbox ? 'compact' : 'json';
  const output = openLogOutput(format);
  return { output, log: createLog({ level, format, destination: output }) };
}
