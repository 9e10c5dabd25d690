import { withClaims } from '../../test/support/tokens.ts';

const HEAD_END = '\r\n\r\n';
const FIRST_LOGIN = 900_001;

/** A recorded answer as another login's, whose positions and orders have ids of their own. */
export function personalAnswer(recorded: Buffer, login: string): Buffer {
  const text = recorded.toString();
  const at = text.indexOf(HEAD_END);
  const body = text
    .slice(at + HEAD_END.length)
    .replace(/"login":\d+/, `"login":${login}`)
    .replace(/"id":"(\d+)"/g, `"id":"${login}$1"`);
  const bytes = Buffer.from(body);
  const head = text.slice(0, at).replace(/content-length: \d+/, `content-length: ${bytes.length}`);
  return Buffer.concat([Buffer.from(head + HEAD_END), bytes]);
}

/** The login of a request's token, which is not checked. */
export function loginIn(head: string): string {
  const [, claims = ''] = /\r\nauthorization: Bearer [\w-]+\.([\w-]+)\./i.exec(head) ?? [];
  const { login } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { login: unknown };
  return String(login);
}

/** Tokens like this one, each of a login of its own. */
export function tokensLike(token: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => withClaims(token, { login: FIRST_LOGIN + at }));
}
