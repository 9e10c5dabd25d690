import { MAX_TIMER_MS } from '../lib/clock.ts';
import { fixedHeaders, forwardedHeaders } from './header-kinds.ts';
import {
  baseUrl,
  cookieName,
  host,
  type Kind,
  networks,
  oneOf,
  onOff,
  origins,
  pathPrefix,
  plainText,
  redisUrl,
  type Setting,
  secret,
  setting,
  share,
  sharedSecret,
  webUrl,
  wholeNumber,
} from './kinds.ts';

const MAX_SECONDS = Math.floor(MAX_TIMER_MS / 1_000);

// A misspelt `production` stops the start: otherwise the rules of production would silently not apply.
const mode = oneOf('development', 'production', 'test');
const port = wholeNumber(0, 65_535);
const ms = wholeNumber(1, MAX_TIMER_MS);
const seconds = wholeNumber(1, MAX_SECONDS);
const secondsOrNone = wholeNumber(0, MAX_SECONDS);
const count = wholeNumber(1);
const claim = plainText('the name of a claim');
const pathPart = plainText('letters, digits and `-`, `.`, `_`, `~`', /^[a-z\d][a-z\d._~-]*$/i);
const keyPrefix = plainText(
  '1 to 100 letters, digits and marks, no spaces or braces',
  /^[!-z|~]{1,100}$/,
);
const hashKey = secret(plainText('16 characters or more', /^.{16,}$/s));
const replicas: Kind<number | 'none'> = {
  parse: (text) => (text === 'none' ? 'none' : wholeNumber(0).parse(text)),
  allowed: 'a whole number, 0 or more, or `none`',
};
// A direction under the name of another field of the order's body would overwrite that field.
const bodyField = plainText(
  'the name of a JSON field that the order does not have already',
  /^(?!(symbol|type|amount|sl|tp|price|slAmount|tpAmount|comment|__proto__)$)[\w.-]+$/,
);

/** Every variable that the program reads, in the order of docs/configuration.md: name, kind, default, text. */
export const SETTINGS = {
  NODE_ENV: setting(mode, null, '`production`: the sandbox gateway runs only with `SANDBOX=on`'),
  PORT: setting(port, 4_000, 'public port; `0` takes a free one'),
  HOST: setting(
    host,
    '127.0.0.1',
    'address on which the public port listens: `0.0.0.0` if other machines reach it (the image sets it)',
  ),
  ADMIN_PORT: setting(port, 4_001, 'admin port, for metrics and readiness; `0` takes a free one'),
  ADMIN_HOST: setting(
    host,
    '127.0.0.1',
    'address on which the admin port (`ADMIN_PORT`) listens: a private one, or `0.0.0.0`, if Prometheus runs on another machine (the image sets `0.0.0.0`)',
  ),
  PUBLIC_PATH: setting(pathPrefix, '/', 'path prefix under which a proxy serves all of it'),
  GATEWAY_URL: setting(
    baseUrl,
    null,
    'base address of the trading gateway, reached without `HTTPS_PROXY`; unset: the sandbox gateway, but with `NODE_ENV=production` the start stops, unless `SANDBOX=on`',
  ),
  GATEWAY_DIRECTION_FIELD: setting(
    bodyField,
    'direction',
    'field of orders that are sent, with `buy` or `sell` ([prove it](check.md#what-it-cannot-find)); positions and pending orders are read by `isBuy`',
  ),
  GATEWAY_MOBILE_WALLET: setting(
    pathPart,
    'mobile-wallet',
    'the `{provider}` in the path `add-crm-{provider}` of [op 8](gateway.md#its-operations)',
  ),
  GATEWAY_LOGIN_CLAIM: setting(claim, 'login', 'token claim with the trading login'),
  GATEWAY_GROUP_CLAIM: setting(claim, 'group', 'token claim with the account group'),
  GATEWAY_TIME_UNIT: setting(
    oneOf('auto', 's', 'ms'),
    'auto',
    'unit of numeric times; `auto`: below 1e11 seconds',
  ),
  GATEWAY_ORDER_NUMBERS: setting(
    oneOf('order', 'position'),
    'order',
    '`position`: the gateway nets, so orders may share a number. `order`: a repeated number makes the outcome unknown',
  ),
  GATEWAY_HEADERS: setting(fixedHeaders, {}, 'fixed headers of every gateway call'),
  GATEWAY_FORWARD_HEADERS: setting(
    forwardedHeaders,
    [],
    'request headers copied to each gateway call; nothing is shared across their values ([gateway.md](gateway.md))',
  ),
  GATEWAY_FORWARD_CLIENT: setting(onOff, false, 'send the client’s address and user agent as well'),
  GATEWAY_TIMEOUT_MS: setting(ms, 5_000, 'deadline of a read or small write; catalog: six times'),
  ORDER_TIMEOUT_MS: setting(
    // Below 100, seconds were probably meant: each outcome would be unknown. An hour is far less than the life of a record.
    wholeNumber(100, 3_600_000),
    15_000,
    'deadline of an order; waiting costs less than an unknown outcome',
  ),
  // Each of the three pools needs at least one connection.
  GATEWAY_CONNECTIONS: setting(
    wholeNumber(3, 65_535),
    128,
    'most connections of this process to the gateway',
  ),
  GATEWAY_MAX_BYTES: setting(count, 8_388_608, 'largest answer, unpacked; catalog: sixteen times'),
  GATEWAY_POLLS_PER_SECOND: setting(wholeNumber(1, 1_000_000), 500, 'most polls of this process'),
  CATALOG_MAX_AGE_SECONDS: setting(seconds, 3_600, 'oldest catalog served, by the gateway’s `Age`'),
  CATALOG_STALE_SECONDS: setting(
    secondsOrNone,
    3_600,
    'how much longer it serves, marked stale, while the gateway fails',
  ),
  SESSION_MAX_AGE_SECONDS: setting(secondsOrNone, 60, 'oldest session served; `0`: read each time'),
  POSITIONS_POLL_MS: setting(
    wholeNumber(100, MAX_TIMER_MS),
    1_000,
    'poll interval of a live feed; back-off ends at 30 times that. If `session` is selected, [op 10](gateway.md#its-operations) is read every 5 times that',
  ),
  AUTH_PROOF_SECONDS: setting(seconds, 300, 'how long the gateway’s acceptance of a token counts'),
  JWT_JWKS_URL: setting(webUrl, null, 'key set that verifies tokens; or `JWT_SECRET`, not both'),
  JWT_SECRET: setting(sharedSecret, null, 'shared secret that verifies tokens'),
  JWT_ISSUER: setting(plainText('the `iss` of the tokens'), null, 'issuer of a verified token'),
  JWT_AUDIENCE: setting(plainText('the `aud` of the tokens'), null, 'audience of a verified token'),
  AUTH_COOKIE: setting(cookieName, null, 'cookie with the token ([cookies](clients.md#cookies))'),
  REDIS_URL: setting(redisUrl, null, 'shared by replicas: orders, limits, account versions'),
  REDIS_PREFIX: setting(keyPrefix, 'trading-graph:', 'how each key begins; one of each deployment'),
  REDIS_REPLICAS: setting(
    replicas,
    null,
    'replicas of Redis that must hold the record of an order before it is sent, the same in all processes; unset: the most ever seen connected; `0` or `none`: no replica. In production a Redis without `appendonly yes` stops the start if this is unset or `0`. With another value a restart of such a Redis may forget orders',
  ),
  ORDER_STORE: setting(
    plainText('a file, or the word `memory`'),
    null,
    'without Redis: the SQLite file of the order records, which processes of one machine may share, or `memory`; unset: `data/orders.db`. If the sandbox gateway runs, unset is `.sandbox/orders.db` (with `NODE_ENV=production` `memory`)',
  ),
  ORDER_RECORDS_PER_ACCOUNT: setting(
    count,
    5_000,
    'most order records of one account; of all together 2,000,000, in memory 200,000',
  ),
  GRAPHIQL: setting(
    onOff,
    null,
    'serve GraphiQL, introspection and `/schema.graphql`; unset: `on` in sandbox mode, else `off`',
  ),
  PERSISTED_DOCUMENTS: setting(
    plainText('a file or a folder'),
    null,
    'manifest of trusted documents, or a folder of them; read again when it changes',
  ),
  PERSISTED_DOCUMENTS_ONLY: setting(
    oneOf('off', 'log', 'on'),
    'off',
    'refuse (`on`) or only log (`log`) documents that are in no manifest',
  ),
  FEDERATION: setting(onOff, false, 'subgraph of Apollo Federation ([supergraph](supergraph.md))'),
  CORS_ORIGINS: setting(origins, null, 'allowed origins; unset: none, in sandbox mode localhost'),
  TRUSTED_PROXIES: setting(networks, [], 'proxies in front, whose `X-Forwarded-For` counts'),
  MAX_BODY_BYTES: setting(count, 262_144, 'largest request body'),
  MAX_DEPTH: setting(count, 15, 'deepest selection of a document'),
  MAX_COST: setting(count, 65_000, 'most fields that an answer or an event can hold'),
  RATE_LIMIT_PER_MINUTE: setting(count, 1_200, 'requests per proved account, else per address'),
  LOGIN_LIMIT_PER_MINUTE: setting(
    count,
    10,
    'sign-ins per address and e-mail; 10 times that per e-mail, 30 times per address',
  ),
  LOG_LEVEL: setting(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'least level that is logged',
  ),
  LOG_SAMPLE: setting(
    share,
    1,
    'share of the successful queries (within 1 s) and subscriptions that is logged; every other request is logged',
  ),
  LOG_ACCOUNT_KEY: setting(
    hashKey,
    null,
    'key of the hashes of accounts and addresses in the log, the same for all replicas; unset: one of the process',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(webUrl, null, 'collector; turns [traces](traces.md) on'),
  SHUTDOWN_DELAY_MS: setting(
    wholeNumber(0, MAX_TIMER_MS),
    0,
    'after SIGTERM: how long to serve on with readiness 503 (the image sets `5000`)',
  ),
  SHUTDOWN_GRACE_MS: setting(
    ms,
    20_000,
    'after `SHUTDOWN_DELAY_MS`: how long requests and orders may take to end; more than `ORDER_TIMEOUT_MS`',
  ),
  SANDBOX: setting(onOff, null, '`on`: the sandbox may run in production; `off`: nowhere'),
  SANDBOX_SEED: setting(plainText('any text'), '1', 'the same seed gives the same market'),
  SANDBOX_INSTRUMENTS: setting(wholeNumber(1, 100_000), 500, 'size of the sandbox’s catalog'),
  SANDBOX_TICK_MS: setting(ms, 1_000, 'pace of the sandbox’s market'),
};

export type SettingName = keyof typeof SETTINGS;

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type ValueOf<Row> = Row extends Setting<infer T> & { readonly default: infer D }
  ? T | (null extends D ? null : never)
  : never;

export type Values = {
  readonly [Name in SettingName as CamelCase<Name>]: ValueOf<(typeof SETTINGS)[Name]>;
};

export function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
