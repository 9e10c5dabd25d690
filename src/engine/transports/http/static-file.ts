import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { pack } from '../../../lib/pack.ts';
import type { HttpReply } from './reply.ts';

/** A file of a page, compressed once for all requests. */
export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

/** `packedAhead` is the file packed by brotli at build time, more tightly than there is time for at run time. */
export async function packFile(
  type: string,
  bytes: Buffer,
  packedAhead?: Buffer,
): Promise<StaticFile> {
  const [gzip, br] = await Promise.all([pack(bytes, 'gzip'), packedAhead ?? pack(bytes, 'br')]);
  return { type, bytes, gzip, br };
}

/** Sends a file whose path contains a hash of its content, so that it can be cached forever. */
export function sendFile(reply: HttpReply, file: StaticFile): void {
  reply.set('content-type', file.type);
  reply.set('cache-control', 'public, max-age=31536000, immutable');
  reply.set('vary', 'accept-encoding');
  const encoding = reply.encodingFor(file.bytes.length);
  if (encoding === null) fireAndForget('response', reply.send(200, file.bytes));
  else reply.sendPacked(200, file[encoding], encoding);
}

/** Sends a page that can load, run and request only what this server serves, and that no other page can frame. */
export function sendPage(
  reply: HttpReply,
  html: string,
  { scripts = "'self'", style = "'self'", images = 'data:', forms = "'none'" },
): MaybePromise<void> {
  const policy = `default-src 'none'; script-src ${scripts}; style-src ${style}; img-src ${images}`;
  const rest = `connect-src 'self'; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`;
  reply.set('content-type', 'text/html; charset=utf-8');
  reply.set('content-security-policy', `${policy}; ${rest}`);
  reply.set('x-frame-options', 'DENY');
  reply.set('referrer-policy', 'no-referrer');
  return reply.send(200, html);
}
