import { GATEWAY_SETTINGS } from './gateway-settings.ts';
import {
  clientNames,
  headerNames,
  host,
  LONGEST_MS,
  networks,
  oneOf,
  onOff,
  origins,
  redisUrl,
  share,
  sharedSecret,
  text,
  textWhere,
  webUrl,
  wholeNumber,
} from './kinds.ts';
import { type Setting, setting, unset } from './setting.ts';
import { editDistance } from './unknown-names.ts';

const PRODUCTION = 'production';
const MOST_EDITS = 2;

/** A word that was probably meant for `production` is refused: with it the rules of production would not hold. */
const environmentName = textWhere(
  (text) => text === PRODUCTION || !isMeantForProduction(text),
  '`production`, written exactly so, or a word that is not close to it',
);

function isMeantForProduction(text: string): boolean {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '');
  if (letters === 'prod' || letters === 'prd' || letters.startsWith(PRODUCTION)) return true;
  return editDistance(letters, PRODUCTION) <= MOST_EDITS;
}

const port = wholeNumber(0, 65_535);
const ms = wholeNumber(1, LONGEST_MS);
const count = wholeNumber(1);
const countOrNone = wholeNumber(0);

/** Every variable that the program reads, in the order of docs/configuration.md. */
export const SETTINGS = {
  NODE_ENV: setting({
    kind: environmentName,
    ...unset,
    means: '`production`: no embedded sandbox gateway unless `SANDBOX=on`',
  }),
  PORT: setting({ kind: port, fallback: 4_000, means: 'public listener; `0` takes a free port' }),
  HOST: setting({
    kind: host,
    fallback: '127.0.0.1',
    means: 'address of the public listener (the container image sets `0.0.0.0`)',
  }),
  ADMIN_PORT: setting({
    kind: port,
    fallback: 4_001,
    means: 'metrics listener; `0` takes a free port',
  }),
  ADMIN_HOST: setting({
    kind: host,
    fallback: '127.0.0.1',
    means: 'address of the metrics listener (the container image sets `0.0.0.0`)',
  }),
  ...GATEWAY_SETTINGS,
  JWT_JWKS_URL: setting({
    kind: webUrl,
    ...unset,
    means: 'key set to verify tokens with here as well; or `JWT_SECRET`, not both',
  }),
  JWT_SECRET: setting({
    kind: sharedSecret,
    ...unset,
    means: 'shared secret to verify tokens with',
    isSecret: true,
  }),
  JWT_ISSUER: setting({
    kind: text('the `iss` of the tokens'),
    ...unset,
    means: 'issuer that a verified token must name; needs a key',
  }),
  JWT_AUDIENCE: setting({
    kind: text('the `aud` of the tokens'),
    ...unset,
    means: 'audience that a verified token must name; needs a key',
  }),
  REDIS_URL: setting({
    kind: redisUrl,
    ...unset,
    means: 'what several replicas share: order records, limits, catalog versions',
    holdsPassword: true,
  }),
  REDIS_PREFIX: setting({
    kind: text('1 to 100 letters, digits and marks, no spaces or braces', /^[!-z|~]{1,100}$/),
    fallback: 'trading-graph:',
    means: 'what every key in Redis begins with; replicas share it, deployments do not',
  }),
  REDIS_DURABILITY: setting({
    kind: oneOf('required', 'none'),
    fallback: 'required',
    means:
      'in production a Redis without `appendonly yes`, or one that cannot tell, stops the start; `none` accepts by name that a restart of it forgets orders, whose keys are sent again',
  }),
  ORDER_STORE: setting({
    kind: text('a file, or the word `memory`'),
    fallback: null,
    fallbackText: '`data/orders.db`; with the sandbox gateway `memory`',
    means:
      'SQLite file of the order records, where there is no Redis; processes of one machine may share it; `memory` forgets them at the end',
  }),
  ORDER_RECORDS_MAX: setting({
    kind: count,
    fallback: null,
    fallbackText: '`2000000`; in memory `200000`',
    means: 'most order records held; a warning comes at 80 %',
  }),
  ORDER_RECORDS_PER_ACCOUNT: setting({
    kind: count,
    fallback: 5_000,
    means: 'most order records of one account, which alone is refused beyond it',
  }),
  INTROSPECTION: setting({
    kind: onOff,
    fallback: null,
    fallbackText: '`off`; with the sandbox gateway `on`',
    means: 'answer introspection, serve `/schema.graphql`',
  }),
  GRAPHIQL: setting({
    kind: onOff,
    fallback: null,
    fallbackText: '`off`; with the sandbox gateway `on`',
    means: 'serve GraphiQL to browsers',
  }),
  PERSISTED_DOCUMENTS: setting({
    kind: text('a file or a folder'),
    ...unset,
    means: 'manifest of trusted documents, or a folder of them; read again when it changes',
  }),
  PERSISTED_DOCUMENTS_ONLY: setting({
    kind: oneOf('off', 'log', 'on'),
    fallback: 'off',
    means: 'refuse (`on`) or only log (`log`) documents that are not in a manifest',
  }),
  PLUGINS: setting({
    kind: text('a file'),
    ...unset,
    means: 'a file whose default export is a list of envelop or yoga plugins (plugins.md)',
  }),
  CORS_ORIGINS: setting({
    kind: origins,
    fallback: null,
    fallbackText: 'none; with the sandbox gateway localhost on any port',
    means: 'origins allowed for HTTP and for WebSocket upgrades, with commas between them',
  }),
  CORS_HEADERS: setting({
    kind: headerNames,
    fallback: [],
    fallbackText: 'none',
    means: 'request headers allowed to pages beside the usual ones, with commas between them',
  }),
  TRUSTED_PROXIES: setting({
    kind: networks,
    fallback: [],
    fallbackText: 'none',
    means: 'addresses or networks whose `X-Forwarded-For` counts, with commas between them',
  }),
  MAX_BODY_BYTES: setting({ kind: count, fallback: 262_144, means: 'largest request body' }),
  MAX_DEPTH: setting({ kind: count, fallback: 15, means: 'deepest selection of a document' }),
  MAX_ALIASES: setting({ kind: countOrNone, fallback: 30, means: 'most aliases in a document' }),
  MAX_DIRECTIVES: setting({
    kind: countOrNone,
    fallback: 20,
    means: 'most directives in a document',
  }),
  MAX_TOKENS: setting({
    kind: count,
    fallback: 4_000,
    means: 'most lexical tokens of a document, or lines where there are more',
  }),
  MAX_COST: setting({
    kind: count,
    fallback: 250_000,
    means:
      'most fields that an answer or an event can hold; estimated before, counted while it is made',
  }),
  COST_LIMIT_PER_MINUTE: setting({
    kind: count,
    fallback: 5_000_000,
    means:
      'counted fields of answers per proven account, else per address; events have 5 times `MAX_COST`',
  }),
  RATE_LIMIT_PER_MINUTE: setting({
    kind: count,
    fallback: 1_200,
    means: 'requests per proven account, else per address',
  }),
  LOGIN_LIMIT_PER_MINUTE: setting({
    kind: count,
    fallback: 10,
    means: '`login` fields per address and e-mail; 30 times that per address, 10 times per e-mail',
  }),
  LOG_LEVEL: setting({
    kind: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    fallback: 'info',
    means: 'least level that is logged',
  }),
  LOG_SAMPLE: setting({
    kind: share,
    fallback: 1,
    means: 'share of healthy, quick requests that are logged; each failed or slow one is',
  }),
  LOG_ACCOUNT_KEY: setting({
    kind: text('16 characters or more', /^.{16,}$/s),
    fallback: null,
    fallbackText: 'a random one of the process',
    means:
      'key of the hashes of accounts and addresses in the log; replicas that share it write the same',
    isSecret: true,
  }),
  REVISION: setting({
    kind: text('1 to 100 letters, digits and marks, no spaces', /^[\w.+/:@-]{1,100}$/),
    fallback: null,
    fallbackText: 'the commit of a checkout, else `unknown`',
    means: 'the commit that runs, for metrics, log and health (the image has it from its build)',
  }),
  CLIENT_NAMES: setting({
    kind: clientNames,
    fallback: [],
    fallbackText: 'none',
    means: 'names of clients (`apollographql-client-name`) that become labels of metrics',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    kind: webUrl,
    ...unset,
    means:
      'base address of a collector, which turns traces on; [traces.md](traces.md) has the other `OTEL_…` variables',
  }),
  SHUTDOWN_DELAY_MS: setting({
    kind: wholeNumber(0, LONGEST_MS),
    fallback: 0,
    means:
      'after SIGTERM: how long to go on serving with readiness 503, while sockets and event streams are closed in slices (the container image sets `5000`)',
  }),
  SHUTDOWN_GRACE_MS: setting({
    kind: ms,
    fallback: 20_000,
    means:
      'then: how long to drain; more than `ORDER_TIMEOUT_MS`. Without a delay sockets and event streams are closed in slices over half of it',
  }),
  SANDBOX: setting({
    kind: onOff,
    ...unset,
    means:
      '`on` allows the embedded sandbox gateway in production; `off` forbids it; `GATEWAY_URL` wins',
  }),
  SANDBOX_SEED: setting({
    kind: text('any text'),
    fallback: '1',
    means: 'the same seed gives the same market',
  }),
  SANDBOX_INSTRUMENTS: setting({
    kind: wholeNumber(1, 100_000),
    fallback: 500,
    means: 'size of the catalog',
  }),
  SANDBOX_TICK_MS: setting({ kind: ms, fallback: 1_000, means: 'pace of the market' }),
};

export type SettingName = keyof typeof SETTINGS;

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type ValueOf<Entry> = Entry extends Setting<infer T> & { readonly fallback: infer F }
  ? T | (null extends F ? null : never)
  : never;

/** The value of each variable, before those that depend on others are determined. */
export type Values = {
  readonly [Name in SettingName as CamelCase<Name>]: ValueOf<(typeof SETTINGS)[Name]>;
};

/** Converts POSITIONS_POLL_MS to positionsPollMs. */
export function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
