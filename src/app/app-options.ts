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
import type { Extensions } from '../extensions/load-extensions.ts';
import { federated } from '../schema/federation.ts';
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
  /** How often one answer of each operation is compared with the interface; tests do it more often. */
  readonly fitMs?: number | undefined;
  /** Plugins of envelop or yoga; docs/plugins.md says what they see. */
  readonly plugins?: readonly OtherPlugin[];
  /** A file that reads a gateway of another shape. */
  /** Addresses in place of those that extensions give their backends, by the backends' names. */
  readonly backendUrls?: Readonly<Record<string, string>>;
}

export type StartOptions = ReturnType<typeof withDefaults>;

export function withDefaults(config: Config, given: AppOptions, extensions: Extensions) {
  const own = given.schema ?? extensions.schema;
  const schema = config.federation ? federated(own) : own;
  const log = given.log ?? openAppLog(config).log;
  const plugins = openGiven(schema, given.plugins ?? [], log, config.plugins);
  return {
    ...given,
    log,
    schema,
    extensions: { ...extensions, backends: readdressed(extensions, given.backendUrls ?? {}) },
    plugins,
    cacheBytes: { ...cacheBudgets(oldHeapLimit() / 2), ...given.cacheBytes },
    connections: { ...CONNECTIONS, most: maxConnections(config), ...given.connections },
  };
}

function readdressed({ backends }: Extensions, urls: Readonly<Record<string, string>>) {
  const unknown = Object.keys(urls).find((name) => !backends.some((each) => each.name === name));
  if (unknown !== undefined) throw new ConfigError([`No extension has a backend ${unknown}.`]);
  const given = new Map(Object.entries(urls));
  return backends.map((each) => ({ ...each, url: given.get(each.name) ?? each.url }));
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
