import { isIP, isIPv6 } from 'node:net';

/** A kind of value: how its text is parsed, and the message for a text that is not valid. */
export interface Kind<T> {
  /** Null if the text is not valid. */
  parse(text: string): T | null;
  readonly allowed: string;
  /** Whether the value is never shown. It can be in a file instead, which the variable NAME_FILE names. */
  readonly isSecret?: boolean;
  /** Whether the value is shown without its password. It can be in such a file as well. */
  readonly holdsPassword?: boolean;
}

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** The value of an unset variable. Null: there is none, or other settings determine it. */
  readonly default: T | null;
  readonly text: string;
}

/** The type records whether the default is null, because then the value can be null too. */
export function setting<T, const D extends T | null>(
  kind: Kind<T>,
  byDefault: D,
  text: string,
): Setting<T> & { readonly default: D } {
  return { kind, default: byDefault, text };
}

export function secret<T>(kind: Kind<T>): Kind<T> {
  return { ...kind, isSecret: true };
}

const MAX_TEXT_LENGTH = 4_096;

/** Accepts digits only: `1s`, `1e3`, `0x10` and `-1` are refused, not guessed at. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Kind<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return {
    parse(text) {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return number >= least && number <= most ? number : null;
    },
    allowed: `a whole number, ${range}`,
  };
}

export function oneOf<const Choice extends string>(...choices: Choice[]): Kind<Choice> {
  return {
    parse: (text) => choices.find((one) => one === text) ?? null,
    allowed: `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`,
  };
}

export const share: Kind<number> = {
  parse: (text) => (/^(0|1|0?\.\d{1,6}|[01]\.0{1,6})$/.test(text) ? Number(text) : null),
  allowed: 'a number from 0 to 1, like 0.05',
};

export const onOff: Kind<boolean> = {
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : null),
  allowed: '`on` or `off`',
};

/** Refuses a Windows line end from an environment file: it would name another file, issuer or claim. */
export function plainText(allowed: string, pattern = /\S/): Kind<string> {
  return textWhere(
    (text) => text.length <= MAX_TEXT_LENGTH && text.trim() === text && pattern.test(text),
    `${allowed}, without spaces or a line end around it`,
  );
}

// RFC 7518: a key of HS256 has at least the length of its hash. A shorter key can be found by trying.
const MIN_SECRET_BYTES = 32;

/** Refuses a line end that an environment or a file has added: no token would verify. */
export const sharedSecret = secret(
  textWhere(
    (text) =>
      text.length <= MAX_TEXT_LENGTH &&
      !/[\r\n]/.test(text) &&
      Buffer.byteLength(text) >= MIN_SECRET_BYTES,
    `a shared secret of at least ${MIN_SECRET_BYTES} bytes, without a line end`,
  ),
);

export const host = textWhere(
  (value) => isIP(value) !== 0 || /^(?!-)[a-z\d-]{1,63}(\.(?!-)[a-z\d-]{1,63})*$/i.test(value),
  'an IP address or a host name',
);

/** `fetch` accepts no user and password in an address. */
export const webUrl = textWhere((value) => {
  const url = parseUrl(value);
  return isWebUrl(url) && url?.username === '' && url.password === '';
}, 'an http or https address, without user and password');

/**
 * An address to which paths are appended, without a trailing slash. It has no other parts: headers are separate settings,
 * and the parser must not have to repair it.
 */
export const baseUrl: Kind<string> = {
  parse(text) {
    const url = parseUrl(text);
    const isBare = url?.username === '' && url.password === '' && !/[?#]/.test(text);
    return isWebUrl(url) && isBare ? url.href.replace(/\/+$/, '') : null;
  },
  allowed: 'an http or https address, without user, password, query or fragment',
};

/** A query would set options of ioredis, and a scheme in capitals would turn off its TLS. */
const REDIS_URL = /^rediss?:\/\/[^/?#]*(?:\/\d{0,5})?$/;
const SOCKET_PATH = /^\/[^/\s](?:.*\S)?$/;

export const redisUrl: Kind<string> = {
  ...textWhere(
    (value) => SOCKET_PATH.test(value) || (REDIS_URL.test(value) && parseUrl(value) !== null),
    'a redis:// or rediss:// address with the number of a database, or the path of a socket',
  ),
  holdsPassword: true,
};

/** Origins as a browser writes them. Any other spelling could never match, and neither could a `*` in a host. */
export const origins = listOf((item) => {
  if (item.includes('*')) return false;
  const url = parseUrl(item);
  if (isWebUrl(url)) return url.origin === item;
  // Apps in a web view have their own schemes, e.g. capacitor://localhost.
  return url !== null && /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(item);
}, 'origins with commas between them, like https://app.example.com (no path, no `*`)');

/** Browsers accept a `__Host-` cookie only with `Path=/`. */
export const cookieName = textWhere(
  (value) => /^(?!__host-)[\w!#$%&'*.^`|~+-]{1,64}$/i.test(value),
  'a name of a cookie, without `__Host-`',
);

export const pathPrefix = textWhere(
  (value) => /^\/$|^(?:\/[\w~-][\w.~-]*)+\/?$/.test(value),
  'a path, such as /trading',
);

export const networks = listOf((item) => {
  const [address = '', bits, ...rest] = item.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  const mostBits = isIPv6(address) ? 128 : 32;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= mostBits;
}, 'addresses or networks with commas between them, like 10.0.0.0/8, ::1');

function textWhere(isValid: (text: string) => boolean, allowed: string): Kind<string> {
  return { parse: (text) => (isValid(text) ? text : null), allowed };
}

function listOf(isValid: (item: string) => boolean, allowed: string): Kind<readonly string[]> {
  return {
    parse(value) {
      const items = value.split(',').map((item) => item.trim());
      return items.every(isValid) ? items : null;
    },
    allowed,
  };
}

function isWebUrl(url: URL | null): url is URL {
  return url !== null && /^https?:$/.test(url.protocol);
}

function parseUrl(value: string): URL | null {
  // The parser drops tabs and line ends and repairs backslashes; a text that needs repair is refused.
  return /[\s\\]/.test(value) ? null : URL.parse(value);
}
