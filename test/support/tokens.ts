import { createHmac } from 'node:crypto';

type Claims = Readonly<Record<string, unknown>>;

export interface TokenParts {
  readonly claims: Claims;
  readonly secret: string;
  readonly header?: Claims;
}

/** A token signed with this secret by HS256. Its header may name another algorithm. */
export function signedToken({ claims, secret, header = { alg: 'HS256' } }: TokenParts): string {
  const body = `${part(header)}.${part(claims)}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}

/** A token without a signature, as its header says. */
export function unsignedToken(claims: Claims): string {
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}

/** A forged token with a victim's login. Each number gives another token. */
export function forgedToken(number: number): string {
  return unsignedToken({ login: 700_001, group: 'standard-usd', exp: 4_000_000_000, number });
}

/** The token with these claims changed, and its original signature. */
export function withClaims(token: string, claims: Claims): string {
  const [header, payload = '', signature] = token.split('.');
  const own = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  return `${header}.${part({ ...own, ...claims })}.${signature}`;
}

/** A time claim this many seconds from now. */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

function part(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
