import { createHmac } from 'node:crypto';

type Claims = Readonly<Record<string, unknown>>;

export interface TokenMaking {
  readonly claims: Claims;
  readonly secret: string;
  readonly header?: Claims;
}

/** A token signed with a secret of the test's choice (HS256, whatever its header says). */
export function signedToken({ claims, secret, header = { alg: 'HS256' } }: TokenMaking): string {
  const body = `${part(header)}.${part(claims)}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}

/** A token that anyone can write: its header says that it has no signature. */
export function unsignedToken(claims: Claims): string {
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}

/** A token of that number with a victim's login, whom its maker knows; no two of them are the same. */
export function forgedToken(at: number): string {
  return unsignedToken({ login: 700_001, group: 'standard-usd', exp: 4_000_000_000, at });
}

/** A token with other claims under the signature it came with. */
export function withClaims(token: string, claims: Claims): string {
  const [header, payload = '', signature] = token.split('.');
  const own = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  return `${header}.${part({ ...own, ...claims })}.${signature}`;
}

export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

function part(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
