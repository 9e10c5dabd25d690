import type { HttpExchange } from '../../engine/index.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { pack } from '../../lib/pack.ts';

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The file packed by brotli at build time, more tightly than there is time for at run time. */
  readonly br: Buffer;
}

/** Sends a file whose path contains a hash of its content, so that it can be cached forever. */
export function sendFile(
  exchange: HttpExchange,
  { type, bytes, br }: StaticFile,
): MaybePromise<void> {
  exchange.headers['content-type'] = type;
  exchange.headers['cache-control'] = 'public, max-age=31536000, immutable';
  exchange.headers.vary = 'accept-encoding';
  return exchange.send(200, bytes, (encoding) => (encoding === 'br' ? br : pack(bytes, encoding)));
}

/** Sends a page that can load, run and request only what this server serves, and that no other page can frame. */
export function sendPage(
  exchange: HttpExchange,
  html: string,
  { scripts = "'self'", style = "'self'", images = 'data:', forms = "'none'" },
): MaybePromise<void> {
  const policy = `default-src 'none'; script-src ${scripts}; style-src ${style}; img-src ${images}`;
  const rest = `connect-src 'self'; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`;
  exchange.headers['content-type'] = 'text/html; charset=utf-8';
  exchange.headers['content-security-policy'] = `${policy}; ${rest}`;
  exchange.headers['x-frame-options'] = 'DENY';
  exchange.headers['referrer-policy'] = 'no-referrer';
  return exchange.send(200, html);
}
