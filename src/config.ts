import {
  fileVariable,
  givenValue,
  mayBeFile,
  shown,
  type Variables,
} from './config/given-value.ts';
import type { Setting } from './config/kinds.ts';
import { camelCase, SETTINGS, type SettingName, type Values } from './config/settings.ts';
import { isTypoOf } from './lib/typo.ts';

const DEFAULT_ORDER_FILE = 'data/orders.db';
/** Orders of the sandbox survive a restart, like those of a real gateway. */
const SANDBOX_ORDER_FILE = '.sandbox/orders.db';
/** The folders of these files are created if they are missing. */
export const DEFAULT_ORDER_FILES: readonly string[] = [DEFAULT_ORDER_FILE, SANDBOX_ORDER_FILE];

const ROWS = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];
const KNOWN_NAMES = ROWS.flatMap(([name, row]) =>
  mayBeFile(row.kind) ? [name, fileVariable(name)] : [name],
);

export type Config = Readonly<ReturnType<typeof derive>>;

export type Environment = Variables;

/** Lists everything that is wrong with the environment, one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

export function readConfig(environment: Environment): Config {
  const { config, problems } = parseEnvironment(environment);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

export function parseEnvironment(environment: Environment) {
  const problems: string[] = [];
  const faulty = new Set<SettingName>();
  const entries = ROWS.map(([name, row]) => {
    const result = readSetting(name, row, environment);
    if (result.problem === undefined) return [camelCase(name), result.value];
    problems.push(result.problem);
    faulty.add(name);
    return [camelCase(name), row.default];
  });
  const values = Object.fromEntries(entries) as Values;
  // The default in place of a wrong value could contradict others.
  if (problems.length === 0) problems.push(...contradictions(values));
  return {
    /** The configuration, with the default in place of each wrong value. */
    config: derive(values, environment),
    problems,
    faulty,
    /** Probable mistakes that do not prevent a start. */
    warnings: warnOfUnknownNames(environment, KNOWN_NAMES),
  };
}

function readSetting(
  name: string,
  { kind, default: byDefault }: Setting<unknown>,
  environment: Environment,
) {
  const given = givenValue(name, kind, environment);
  if (given === null) return { value: byDefault };
  if (typeof given === 'string') return { problem: given };
  const value = kind.parse(given.text);
  if (value !== null) return { value };
  return { problem: `${given.label}: must ${given.isFile ? 'hold' : 'be'} ${kind.allowed}` };
}

function derive(
  { nodeEnv, sandbox: _s, redisReplicas, otelExporterOtlpEndpoint: _o, ...values }: Values,
  environment: Environment,
) {
  const isProduction = nodeEnv === 'production';
  const sandbox = values.gatewayUrl === null;
  // An image that runs without a gateway may have no writable folder.
  const ofSandbox = isProduction ? 'memory' : SANDBOX_ORDER_FILE;
  const orderStore = values.orderStore ?? (sandbox ? ofSandbox : DEFAULT_ORDER_FILE);
  const isInMemory = orderStore === 'memory' && values.redisUrl === null;
  return {
    ...values,
    /** Whether the embedded sandbox gateway runs, because no gateway is configured. */
    sandbox,
    /** Whether a new store of order records takes keys of any time, so that an order can be placed at once. */
    takesOldKeys: sandbox,
    publicPath: values.publicPath.replace(/\/$/, ''),
    redisReplicas: redisReplicas === 'none' ? 0 : redisReplicas,
    /** Whether a Redis that forgets orders at a restart is refused. A REDIS_REPLICAS of 1 or more, or `none`, accepts it. */
    requiresAppendonly: isProduction && (redisReplicas ?? 0) === 0,
    orderStore,
    // A record in memory takes about 1 kB, outside the heap.
    orderRecordsMax: isInMemory ? 200_000 : 2_000_000,
    graphiql: values.graphiql ?? sandbox,
    /** Whether the demonstration page is served, never in production. */
    demoPage: sandbox && !isProduction,
    corsOrigins: {
      origins: values.corsOrigins ?? [],
      anyLocalhost: sandbox && values.corsOrigins === null,
    },
    tracing: isTraced(environment),
    /** The commit that an image was built from. */
    revision: environment.REVISION || 'unknown',
  };
}

/** Reads the variables that turn tracing on. OpenTelemetry's SDK reads its other variables itself. */
function isTraced(environment: Environment): boolean {
  const text = (name: string) => environment[name]?.trim() ?? '';
  const url = text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || text('OTEL_EXPORTER_OTLP_ENDPOINT');
  const isDisabled = text('OTEL_SDK_DISABLED').toLowerCase() === 'true';
  return url !== '' && !isDisabled && text('OTEL_TRACES_EXPORTER') !== 'none';
}

/** Values that are valid alone, but not together. */
function* contradictions(values: Values): Generator<string> {
  const { adminPort, gatewayHeaders, jwtJwksUrl, jwtSecret, port } = values;
  const maySandbox = values.sandbox ?? values.nodeEnv !== 'production';
  if (values.gatewayUrl === null && !maySandbox) {
    yield 'GATEWAY_URL is unset: it must be the address of a gateway with SANDBOX=off, and with NODE_ENV=production unless SANDBOX=on';
  }
  if (adminPort === port && port !== 0) {
    yield `ADMIN_PORT=${adminPort}: must differ from PORT (${port})`;
  }
  const { shutdownGraceMs: grace, orderTimeoutMs: order } = values;
  if (grace <= order) {
    yield `SHUTDOWN_GRACE_MS=${grace}: must be more than ORDER_TIMEOUT_MS (${order})`;
  }
  if (jwtJwksUrl !== null && jwtSecret !== null) {
    yield `JWT_JWKS_URL=${shown(jwtJwksUrl)}: must be unset if JWT_SECRET is set`;
  }
  if (jwtJwksUrl === null && jwtSecret === null) {
    // An operator would wrongly believe that tokens are verified.
    const unused = { JWT_ISSUER: values.jwtIssuer, JWT_AUDIENCE: values.jwtAudience };
    for (const [name, value] of Object.entries(unused)) {
      if (value === null) continue;
      yield `${name}=${shown(value)}: must be unset without JWT_JWKS_URL or JWT_SECRET`;
    }
  }
  if (values.persistedDocumentsOnly === 'on' && values.persistedDocuments === null) {
    yield 'PERSISTED_DOCUMENTS_ONLY=on: must be `off` or `log` without PERSISTED_DOCUMENTS, as every document would be refused';
  }
  const twice = values.gatewayForwardHeaders.find((name) => Object.hasOwn(gatewayHeaders, name));
  if (twice !== undefined) {
    yield `GATEWAY_FORWARD_HEADERS=${shown(values.gatewayForwardHeaders.join(','))}: must not name ${twice}, which GATEWAY_HEADERS fixes`;
  }
}

// "HOME" is near "HOST", and "POST" near "PORT": short names are not compared.
const MIN_LETTERS = 5;
const MIN_STEM_LETTERS = 7; // HOST_NAME or PORT_RANGE of another program is not a misspelt HOST or PORT.

/** Warns of each variable that is probably a misspelt setting, without its value. OTEL_… belong to OpenTelemetry. */
export function warnOfUnknownNames(environment: Variables, known: readonly string[]): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.includes(name) || name.startsWith('OTEL_')) return [];
    const meant = meantName(name.toUpperCase(), known);
    return meant === undefined ? [] : [`${name} is not a setting: is ${meant} meant?`];
  });
}

function meantName(name: string, known: readonly string[]): string | undefined {
  if (name.length < MIN_LETTERS) return undefined;
  const typo = known.find((one) => isTypoOf(one, name));
  return typo ?? known.find((one) => hasOtherEnd(name, one));
}

/** The last word is missing, added or different: CATALOG_MAX_AGE, GRAPHIQL_ENABLED, GATEWAY_TIMEOUT_SECONDS. */
function hasOtherEnd(name: string, candidate: string): boolean {
  const [stem, other] = [withoutLastWord(name), withoutLastWord(candidate)];
  if (stem === candidate) return candidate.length >= MIN_STEM_LETTERS;
  return other.includes('_') && (name === other || stem === other);
}

function withoutLastWord(name: string): string {
  return name.replace(/_[^_]*$/, '');
}
