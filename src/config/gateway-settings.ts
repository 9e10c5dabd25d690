import {
  baseUrl,
  headerNames,
  type Kind,
  MAX_MS,
  MAX_SECONDS,
  oneOf,
  onOff,
  plainText,
  wholeNumber,
} from './kinds.ts';
import { setting } from './setting.ts';

const NAME = /^[!#$%&'*+\-.^_`|~\da-z]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// The gateway client writes these itself; a fixed one would break the call, or replace the user's token.
const TAKEN = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'if-none-match',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Others say who the client is, or are about one hop of its way. */
const FORWARDABLE =
  /^(?!(?:accept|content|if|proxy|sec|x-forwarded)-|accept$|cookie$|forwarded$|host$|origin$|range$|user-agent$|x-request-id$|traceparent$|tracestate$|baggage$)/;
const MAX_FORWARDED = 8;

const forwardedHeaders: Kind<readonly string[]> = {
  parse(value) {
    const given = headerNames.parse(value);
    if (given === null) return null;
    const names = [...new Set(given)].toSorted();
    const isFit = names.every((name) => FORWARDABLE.test(name) && !TAKEN.has(name));
    return isFit && names.length <= MAX_FORWARDED ? names : null;
  },
  allowed: `at most ${MAX_FORWARDED} names of headers that no call has of itself, like x-tenant, x-brand`,
};

/** Problems name the header and never its value: the values are secrets. */
const gatewayHeaders: Kind<Readonly<Record<string, string>>> = {
  parse(text) {
    const { headers, problems } = readHeaders(text);
    return problems.length === 0 ? Object.fromEntries(headers) : null;
  },
  allowed: 'a JSON object of header names and texts',
  problems: (text) => readHeaders(text).problems,
};

function readHeaders(text: string) {
  const headers = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, content] of Object.entries(parseObject(text) ?? { '': null })) {
    const key = name.toLowerCase();
    const problem = problemOf(key, content, headers.has(key));
    if (problem !== null) problems.push(problem);
    headers.set(key, String(content));
  }
  return { headers, problems };
}

function problemOf(name: string, content: unknown, isRepeated: boolean): string | null {
  if (name === '' || !NAME.test(name)) return 'not an object of legal header names';
  if (TAKEN.has(name)) return `${name} is set by the program itself`;
  if (isRepeated) return `${name} is there twice`;
  return typeof content === 'string' && VALUE.test(content) ? null : `${name} is not a legal text`;
}

function parseObject(value: string): object | null {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const ms = wholeNumber(1, MAX_MS);
const seconds = wholeNumber(1, MAX_SECONDS);
const secondsOrNone = wholeNumber(0, MAX_SECONDS);
const count = wholeNumber(1);
const claim = plainText('the name of a claim');

// These are fields of an order's body, which a direction under the same name would overwrite.
const bodyField = plainText(
  'the name of a JSON field that the order does not have already',
  /^(?!(symbol|type|amount|sl|tp|price|slAmount|tpAmount|comment|__proto__)$)[\w.-]+$/,
);
const pathPart = plainText('letters, digits and `-`, `.`, `_`, `~`', /^[a-z\d][a-z\d._~-]*$/i);

/** The connection to the trading gateway, and the maximum age of its responses. */
export const GATEWAY_SETTINGS = {
  GATEWAY_URL: setting(
    baseUrl,
    null,
    'base address of the trading gateway, path prefix included, reached without `HTTPS_PROXY`; unset: the embedded sandbox gateway',
  ),
  GATEWAY_DIRECTION_FIELD: setting(
    bodyField,
    'direction',
    'body field that says buy or sell when an order is placed',
  ),
  GATEWAY_MOBILE_WALLET: setting(
    pathPart,
    'mobile-wallet',
    'provider part of the mobile-wallet path, `add-crm-{…}`',
  ),
  GATEWAY_LOGIN_CLAIM: setting(claim, 'login', 'token claim that holds the trading login'),
  GATEWAY_GROUP_CLAIM: setting(claim, 'group', 'token claim that holds the account group'),
  GATEWAY_TIME_UNIT: setting(
    oneOf('auto', 's', 'ms'),
    'auto',
    "unit of the gateway's numeric times; `auto` takes numbers below 1e11 for seconds, and from 1e14 on for microseconds",
  ),
  GATEWAY_HEADERS: setting(gatewayHeaders, {}, 'fixed headers of every gateway call', {
    isSecret: true,
  }),
  GATEWAY_FORWARD_CLIENT: setting(
    onOff,
    false,
    "send the client's address (`X-Forwarded-For`) and `User-Agent` on to the gateway",
  ),
  GATEWAY_FORWARD_HEADERS: setting(
    forwardedHeaders,
    [],
    'request headers sent on to the gateway; nothing is shared across their values (gateway.md)',
    { fallbackText: 'none' },
  ),
  GATEWAY_TIMEOUT_MS: setting(
    ms,
    5_000,
    'deadline of a read or a small write; a catalog fetch has six times that',
  ),
  ORDER_TIMEOUT_MS: setting(
    // Seconds for milliseconds would leave each outcome unknown; an order that outlives its record could be sent again.
    wholeNumber(100, 3_600_000),
    15_000,
    'deadline of an order; long, since waiting costs less than not knowing',
  ),
  GATEWAY_CONNECTIONS: setting(
    // Each of the three pools needs at least one connection.
    wholeNumber(3, 65_535),
    128,
    'most connections to the gateway, over all pools',
  ),
  GATEWAY_MAX_BYTES: setting(
    count,
    8_388_608,
    'largest gateway answer accepted, unpacked; a catalog may have sixteen times that',
  ),
  GATEWAY_POLLS_PER_SECOND: setting(
    wholeNumber(1, 1_000_000),
    500,
    'ceiling of the polls of all live feeds of this process',
  ),
  CATALOG_MAX_AGE_SECONDS: setting(
    seconds,
    3_600,
    "how old a served catalog may be, by the gateway's own `Age`",
  ),
  CATALOG_STALE_SECONDS: setting(
    secondsOrNone,
    3_600,
    'how much longer it may serve, marked stale, while the gateway fails',
  ),
  SESSION_MAX_AGE_SECONDS: setting(secondsOrNone, 60, 'how old a served session snapshot may be'),
  POSITIONS_POLL_MS: setting(
    wholeNumber(100, MAX_MS),
    1_000,
    'poll interval of a live feed; thirty times that is the longest pause while the gateway fails, and five times that how often op 10 is read where `session` is selected',
  ),
  AUTH_PROOF_SECONDS: setting(
    seconds,
    300,
    "how long the gateway's last acceptance of a token counts",
  ),
};
