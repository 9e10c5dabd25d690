import { GATEWAY_SETTINGS } from './gateway-settings.ts';
import {
  cookieName,
  fetchedUrl,
  headerNames,
  host,
  type Kind,
  MAX_MS,
  networks,
  oneOf,
  onOff,
  origins,
  pathPrefix,
  plainText,
  redisUrl,
  share,
  sharedSecret,
  textWhere,
  webUrl,
  wholeNumber,
} from './kinds.ts';
import { type Setting, setting } from './setting.ts';
import { editDistance } from './unknown-names.ts';

const PRODUCTION = 'production';
const MAX_EDITS = 2;

/** A word that was probably meant for `production` is refused: with it the rules of production would not hold. */
const environmentName = textWhere(
  (text) => text === PRODUCTION || !isMeantForProduction(text),
  '`production`, written exactly so, or a word that is not close to it',
);

function isMeantForProduction(text: string): boolean {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '');
  if (letters === 'prod' || letters === 'prd' || letters.startsWith(PRODUCTION)) return true;
  return editDistance(letters, PRODUCTION) <= MAX_EDITS;
}

const port = wholeNumber(0, 65_535);
const ms = wholeNumber(1, MAX_MS);
const count = wholeNumber(1);
const countOrNone = wholeNumber(0);
const replicas: Kind<number | 'none'> = {
  parse: (text) => (text === 'none' ? 'none' : countOrNone.parse(text)),
  allowed: `${countOrNone.allowed}, or \`none\``,
};

/** Every variable that the program reads, in the order of docs/configuration.md. */
export const SETTINGS = {
  NODE_ENV: setting(
    environmentName,
    null,
    '`production`: no embedded sandbox gateway unless `SANDBOX=on`',
  ),
  PORT: setting(port, 4_000, 'public listener; `0` takes a free port'),
  HOST: setting(
    host,
    '127.0.0.1',
    'address of the public listener (the container image sets `0.0.0.0`)',
  ),
  PUBLIC_PATH: setting(
    pathPrefix,
    '/',
    'path prefix under which a proxy serves all of it: endpoint, page, GraphiQL and documentation',
  ),
  ADMIN_PORT: setting(port, 4_001, 'metrics listener; `0` takes a free port'),
  ADMIN_HOST: setting(
    host,
    '127.0.0.1',
    'address of the metrics listener (the container image sets `0.0.0.0`)',
  ),
  ...GATEWAY_SETTINGS,
  JWT_JWKS_URL: setting(
    fetchedUrl,
    null,
    'key set to verify tokens with here as well; or `JWT_SECRET`, not both',
  ),
  JWT_SECRET: setting(sharedSecret, null, 'shared secret to verify tokens with', {
    isSecret: true,
  }),
  JWT_ISSUER: setting(
    plainText('the `iss` of the tokens'),
    null,
    'issuer that a verified token must name; needs a key',
  ),
  JWT_AUDIENCE: setting(
    plainText('the `aud` of the tokens'),
    null,
    'audience that a verified token must name; needs a key',
  ),
  REDIS_URL: setting(
    redisUrl,
    null,
    'what several replicas share: order records, limits, account versions',
    { holdsPassword: true },
  ),
  REDIS_PREFIX: setting(
    plainText('1 to 100 letters, digits and marks, no spaces or braces', /^[!-z|~]{1,100}$/),
    'trading-graph:',
    'what every key in Redis begins with; replicas share it, deployments do not',
  ),
  REDIS_REPLICAS: setting(
    replicas,
    null,
    'how many replicas of Redis must have an order before it is sent; with fewer, orders are refused. The same in all processes. In production a Redis without `appendonly yes`, or one that cannot tell, stops the start, unless this is a number from 1, or `none`: then neither copies nor durability are asked for, and a restart of Redis may forget orders',
    { fallbackText: 'the most ever seen connected' },
  ),
  ORDER_STORE: setting(
    plainText('a file, or the word `memory`'),
    null,
    'SQLite file of the order records, where there is no Redis; processes of one machine may share it; its folder has to be there, but for the default; `memory` forgets them at the end',
    {
      fallbackText:
        '`data/orders.db`; with the sandbox gateway `.sandbox/orders.db`, in production `memory`',
    },
  ),
  GATEWAY_ORDER_NUMBERS: setting(
    oneOf('order', 'position'),
    'order',
    'what the number in an order’s answer names; `position` where the gateway nets, so that one which comes twice is no doubt about the second order',
  ),
  ORDER_RECORDS_PER_ACCOUNT: setting(
    count,
    5_000,
    'most order records of one account, which alone is refused beyond it',
  ),
  INTROSPECTION: setting(onOff, null, 'answer introspection, serve `/schema.graphql`', {
    fallbackText: '`off`; with the sandbox gateway `on`',
  }),
  GRAPHIQL: setting(onOff, null, 'serve GraphiQL to browsers', {
    fallbackText: '`off`; with the sandbox gateway `on`',
  }),
  PERSISTED_DOCUMENTS: setting(
    plainText('a file or a folder'),
    null,
    'manifest of trusted documents, or a folder of them; read again when it changes',
  ),
  PERSISTED_DOCUMENTS_ONLY: setting(
    oneOf('off', 'log', 'on'),
    'off',
    'refuse (`on`) or only log (`log`) documents that are not in a manifest',
  ),
  FEDERATION: setting(onOff, false, 'be a subgraph of Apollo Federation (supergraph.md)'),
  AUTH_COOKIE: setting(
    cookieName,
    null,
    'cookie that carries the token of a page’s visitor; `login` sets it (clients/cookies.md)',
  ),
  CORS_ORIGINS: setting(origins, null, 'origins allowed for HTTP and for WebSocket upgrades', {
    fallbackText: 'none; with the sandbox gateway localhost on any port',
  }),
  CORS_HEADERS: setting(headerNames, [], 'request headers allowed to pages beside the usual ones'),
  TRUSTED_PROXIES: setting(networks, [], 'proxies whose `X-Forwarded-For` counts'),
  MAX_BODY_BYTES: setting(count, 262_144, 'largest request body'),
  MAX_DEPTH: setting(count, 15, 'deepest selection of a document'),
  MAX_ALIASES: setting(countOrNone, 30, 'most aliases in a document'),
  MAX_DIRECTIVES: setting(countOrNone, 20, 'most directives in a document'),
  MAX_TOKENS: setting(
    count,
    4_000,
    'most lexical tokens of a document, or lines where there are more',
  ),
  MAX_COST: setting(
    count,
    250_000,
    'most fields that an answer or an event can hold; estimated before, counted while it is made',
  ),
  RATE_LIMIT_PER_MINUTE: setting(count, 1_200, 'requests per proven account, else per address'),
  LOGIN_LIMIT_PER_MINUTE: setting(
    count,
    10,
    '`login` fields per address and e-mail; 30 times that per address, 10 times per e-mail',
  ),
  LOG_LEVEL: setting(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'least level that is logged',
  ),
  LOG_SAMPLE: setting(
    share,
    1,
    'share of healthy, quick queries and subscriptions that are logged; each failed or slow one is, and each mutation',
  ),
  LOG_ACCOUNT_KEY: setting(
    plainText('16 characters or more', /^.{16,}$/s),
    null,
    'key of the hashes of accounts and addresses in the log; replicas that share it write the same',
    { fallbackText: 'a random one of the process', isSecret: true },
  ),
  REVISION: setting(
    plainText('1 to 100 letters, digits and marks, no spaces', /^[\w.+/:@-]{1,100}$/),
    null,
    'the commit that runs, for metrics, log and health (the image has it from its build)',
    { fallbackText: 'the commit of a checkout, else `unknown`' },
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    webUrl,
    null,
    'base address of a collector, which turns traces on; [traces.md](traces.md) has the other `OTEL_…` variables',
  ),
  SHUTDOWN_DELAY_MS: setting(
    wholeNumber(0, MAX_MS),
    0,
    'after SIGTERM: how long to go on serving with readiness 503 (the container image sets `5000`)',
  ),
  SHUTDOWN_GRACE_MS: setting(
    ms,
    20_000,
    'then: how long to drain; more than `ORDER_TIMEOUT_MS`. WebSockets and event streams are closed at its beginning',
  ),
  SANDBOX: setting(
    onOff,
    null,
    '`on` allows the embedded sandbox gateway in production; `off` forbids it; `GATEWAY_URL` wins',
  ),
  SANDBOX_SEED: setting(plainText('any text'), '1', 'the same seed gives the same market'),
  SANDBOX_INSTRUMENTS: setting(wholeNumber(1, 100_000), 500, 'size of the catalog'),
  SANDBOX_TICK_MS: setting(ms, 1_000, 'pace of the market'),
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
