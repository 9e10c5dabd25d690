import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { isSentinelUrl, readSentinelUrl } from '../lib/sentinel-url.ts';

/** A kind of value: how its text is parsed, and the message for a text that is not valid. */
export interface Kind<T> {
  readonly schema: z.ZodType<T, string>;
  readonly allowed: string;
}

/** Node fires a timer beyond this immediately. */
export const LONGEST_MS = 2_147_483_647;
export const LONGEST_SECONDS = 2_147_483;

/** Accepts digits only: `1s`, `1e3`, `0x10` and `-1` are refused rather than guessed at. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Kind<number> {
  const schema = z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .refine((number) => number >= least && number <= most);
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return { schema, allowed: `a whole number, ${range}` };
}

export function oneOf<const Choice extends string>(...choices: Choice[]): Kind<Choice> {
  const schema = z.string().refine((text): text is Choice => choices.some((one) => one === text));
  return { schema, allowed: `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}` };
}

/** A share of a whole, as a plain decimal. */
export const share: Kind<number> = {
  schema: z
    .string()
    .regex(/^(0|1|0?\.\d{1,6}|[01]\.0{1,6})$/)
    .transform(Number),
  allowed: 'a number from 0 to 1, like 0.05',
};

export const onOff: Kind<boolean> = {
  schema: z.enum(['on', 'off']).transform((word) => word === 'on'),
  allowed: '`on` or `off`',
};

export function text(allowed: string, pattern = /\S/): Kind<string> {
  return { schema: z.string().max(4_096).regex(pattern), allowed };
}

// RFC 7518: a key of HS256 has at least the length of its hash; a shorter one can be found by trying.
const LEAST_SECRET_BYTES = 32;

export const sharedSecret: Kind<string> = {
  schema: z
    .string()
    .max(4_096)
    .refine((value) => Buffer.byteLength(value) >= LEAST_SECRET_BYTES),
  allowed: `a shared secret of at least ${LEAST_SECRET_BYTES} bytes`,
};

export const host: Kind<string> = {
  schema: z
    .string()
    .refine(
      (value) => isIP(value) !== 0 || /^(?!-)[a-z\d-]{1,63}(\.(?!-)[a-z\d-]{1,63})*$/i.test(value),
    ),
  allowed: 'an IP address or a host name',
};

export const webUrl: Kind<string> = {
  schema: z.string().refine((value) => isWebUrl(parseUrl(value))),
  allowed: 'an http or https address',
};

/**
 * Paths are appended to the URL, and headers have a setting of their own, so it may have no other
 * parts.
 */
export const baseUrl: Kind<string> = {
  schema: z
    .string()
    .refine((value) => {
      const url = parseUrl(value);
      const bare = url?.username === '' && url.password === '';
      return isWebUrl(url) && bare && !/[?#]/.test(value);
    })
    .transform((value) => new URL(value).href.replace(/\/+$/, '')),
  allowed: 'an http or https address, without user, password, query or fragment',
};

export const redisUrl: Kind<string> = {
  schema: z
    .string()
    .refine((value) =>
      isSentinelUrl(value)
        ? readSentinelUrl(value) !== null
        : /^\/[^/]/.test(value) || isRedisUrl(parseUrl(value)),
    ),
  allowed:
    'a redis:// or rediss:// address with the number of a database, the path of a socket, or redis-sentinel://host:port,host:port/name-of-the-primary',
};

/** Origins as a browser writes them; any other spelling could never match. */
export const origins: Kind<readonly string[]> = {
  schema: list((item) => {
    const url = parseUrl(item);
    if (isWebUrl(url)) return url.origin === item;
    // Apps in a web view have schemes of their own, e.g. capacitor://localhost.
    return url !== null && /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(item);
  }),
  allowed: 'origins with commas between them, like https://app.example.com (no path, no `*`)',
};

/** Refuses `*`, since browsers exclude the authorization header from it, which operators do not expect. */
export const headerNames: Kind<readonly string[]> = {
  schema: list((item) => /^[a-z\d][a-z\d_-]*$/i.test(item)).transform((names) =>
    names.map((name) => name.toLowerCase()),
  ),
  allowed: 'names of headers with commas between them, like x-tenant, x-app-version (no `*`)',
};

export const clientNames: Kind<readonly string[]> = {
  schema: list((item) => /^[\w][\w .@/+-]{0,63}$/.test(item)),
  allowed: 'names of clients with commas between them, like web, ios, android',
};

export const networks: Kind<readonly string[]> = {
  schema: list((item) => {
    const [address = '', bits, ...rest] = item.split('/');
    if (isIP(address) === 0 || rest.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= (isIPv6(address) ? 128 : 32));
  }),
  allowed: 'addresses or networks with commas between them, like 10.0.0.0/8, ::1',
};

function list(isValid: (item: string) => boolean): z.ZodType<readonly string[], string> {
  return z
    .string()
    .transform((value) => value.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isValid));
}

function isRedisUrl(url: URL | null): boolean {
  return url !== null && /^rediss?:$/.test(url.protocol) && /^\/?\d{0,5}$/.test(url.pathname);
}

function isWebUrl(url: URL | null): url is URL {
  return url !== null && /^https?:$/.test(url.protocol);
}

function parseUrl(value: string): URL | null {
  // The parser drops tabs and line ends and repairs backslashes; a text that needs repair is refused.
  return /[\s\\]/.test(value) ? null : URL.parse(value);
}
