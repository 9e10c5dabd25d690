import { contradictions, warnOfDoubts } from './config/contradictions.ts';
import {
  fileVariable,
  type GivenValue,
  givenValue,
  mayBeFile,
  type Variables,
} from './config/given-value.ts';
import type { Setting } from './config/setting.ts';
import { camelCase, SETTINGS, type SettingName, type Values } from './config/settings.ts';
import { warnOfUnknownNames } from './config/unknown-names.ts';

/** Its folder is made where it is missing. */
const DEFAULT_ORDER_FILE = 'data/orders.db';
/** Beside a checkout: what was ordered in the sandbox before a restart is known after it, as with a gateway of one's own. */
const SANDBOX_ORDER_FILE = '.sandbox/orders.db';
/** The files whose folder is made. */
export const DEFAULT_ORDER_FILES: readonly string[] = [DEFAULT_ORDER_FILE, SANDBOX_ORDER_FILE];

const SETTING_ENTRIES = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];
const KNOWN_NAMES: ReadonlySet<string> = new Set(
  SETTING_ENTRIES.flatMap(([name, setting]) =>
    mayBeFile(setting) ? [name, fileVariable(name)] : [name],
  ),
);

export type Config = Readonly<ReturnType<typeof settle>>;

export type Environment = Variables;

/** Lists everything that is wrong with the environment, one line for each problem. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Throws one ConfigError that lists all problems. */
export function readConfig(environment: Environment): Config {
  const { config, problems } = parseEnvironment(environment);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The parsed environment, valid or not. */
export function parseEnvironment(environment: Environment) {
  const problems: string[] = [];
  /** The settings that have a problem of their own. */
  const faulty = new Set<SettingName>();
  const entries = SETTING_ENTRIES.map(([name, setting]) => {
    const result = readSetting(name, setting, environment);
    if (result.problem === undefined) return [camelCase(name), result.value];
    problems.push(result.problem);
    faulty.add(name);
    return [camelCase(name), setting.fallback];
  });
  const values = Object.fromEntries(entries) as Values;
  for (const { about, problem } of contradictions(values)) {
    // A variable that is wrong by itself already has a line.
    if (!about.some((name) => faulty.has(name))) problems.push(problem);
  }
  return {
    /** Contains the default in place of each value that is wrong. */
    config: settle(values, environment),
    problems,
    faulty,
    /** Probable mistakes that do not prevent a start. */
    warnings: [...warnOfUnknownNames(environment, KNOWN_NAMES), ...warnOfDoubts(values)],
  };
}

/** The other variables of OpenTelemetry are its SDK's to read. */
function isTraced(environment: Environment): boolean {
  const text = (name: string) => environment[name]?.trim() ?? '';
  return (
    text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') + text('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' &&
    text('OTEL_SDK_DISABLED').toLowerCase() !== 'true' &&
    text('OTEL_TRACES_EXPORTER') !== 'none'
  );
}

/** The value, or a text that says what is wrong with what is given. */
function readSetting(name: string, setting: Setting<unknown>, environment: Environment) {
  const given = givenValue(name, setting, environment);
  if (typeof given === 'string') return { problem: given };
  const value = given === null ? setting.fallback : setting.kind.parse(given.text);
  return given !== null && value === null ? { problem: describe(given, setting) } : { value };
}

function settle(
  { nodeEnv, sandbox: _s, redisReplicas, otelExporterOtlpEndpoint: _o, ...values }: Values,
  environment: Environment,
) {
  const sandbox = values.gatewayUrl === null;
  // An image that is tried without a gateway may have nothing to write to.
  const ofSandbox = nodeEnv === 'production' ? 'memory' : SANDBOX_ORDER_FILE;
  const orderStore = values.orderStore ?? (sandbox ? ofSandbox : DEFAULT_ORDER_FILE);
  const isInMemory = orderStore === 'memory' && values.redisUrl === null;
  return {
    ...values,
    /** The embedded sandbox gateway runs, since no gateway is configured. */
    sandbox,
    /** The prefix has no slash at its end. */
    publicPath: values.publicPath.replace(/\/$/, ''),
    redisReplicas: redisReplicas === 'none' ? 0 : redisReplicas,
    /** Whether a Redis that forgets orders over a restart is refused. */
    requiresAppendonly: nodeEnv === 'production' && (redisReplicas ?? 0) === 0,
    /** A file, or the word `memory`. */
    orderStore,
    /** The most order records of all accounts. In memory each is half a kilobyte of the heap. */
    orderRecordsMax: isInMemory ? 200_000 : 2_000_000,
    introspection: values.introspection ?? sandbox,
    graphiql: values.graphiql ?? sandbox,
    /** The demonstration page, which never is part of production. */
    demoPage: sandbox && nodeEnv !== 'production',
    corsOrigins: {
      origins: values.corsOrigins ?? [],
      anyLocalhost: sandbox && values.corsOrigins === null,
    },
    /** Whether spans are exported. */
    tracing: isTraced(environment),
  };
}

function describe({ label, text, isFile }: GivenValue, { kind }: Setting<unknown>): string {
  const details = kind.problems?.(text) ?? [];
  const detail = details.length > 0 ? ` (${details.join(', ')})` : '';
  return `${label}: must ${isFile ? 'hold' : 'be'} ${kind.allowed}${detail}`;
}
