// Acme's gateway: a version before its paths, the session's token in a header of its own, answers in { data }, names in snake
// case, numbers as texts, times in ISO 8601, and errors with status 200. The service reads such numbers and times by itself.
import type { GatewayAdapter } from 'trading-graph/adapter';

/** The interface writes these as Acme does. */
const SNAKE = new Set([
  '_id',
  'access_token',
  'refresh_token',
  'kyc_status',
  'account_external_id',
]);
/** And these like nobody else. */
const OTHERS: Readonly<Record<string, string>> = {
  total_invested: 'Invested',
  total_profit: 'Profits',
};
const STATUSES: Readonly<Record<string, number>> = {
  TOKEN_EXPIRED: 401,
  WRONG_ACCOUNT: 403,
  SLOW_DOWN: 429,
};

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camels = new Map(Object.entries(OTHERS));

/** Each name is translated once: an answer may have five thousand rows. */
function camel(name: string): string {
  const known = camels.get(name);
  if (known !== undefined) return known;
  const made = SNAKE.has(name)
    ? name
    : name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  camels.set(name, made);
  return made;
}

/** The same JSON with other names; a number with too many digits for JavaScript stays as it came. */
function renamed(json: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(json)) return json.map((each) => renamed(each, rename));
  if (json === null || typeof json !== 'object' || 'rawJSON' in json) return json;
  const made: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(json)) made[rename(name)] = renamed(each, rename);
  return made;
}

interface AcmeAnswer {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly text: string };
}

const acme: GatewayAdapter = {
  request: ({ operation, path, headers: { authorization = null }, body }) => ({
    path: `/api/v3${path}`,
    headers: { authorization: null, 'x-acme-session': authorization },
    // The value of a key is the app's own.
    body: operation === 'setValue' ? body : renamed(body, snake),
  }),
  answer(_operation, body, status) {
    const { data, error } = body as AcmeAnswer;
    if (error === undefined) return renamed(data, camel);
    const refusal = { error: error.code, message: error.text };
    return { status: status === 200 ? (STATUSES[error.code] ?? 400) : status, body: refusal };
  },
};

export default acme;
