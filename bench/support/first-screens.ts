import { Pool } from 'undici';
import { HOME } from './documents.ts';

const CONNECTIONS = 16;

/** A home screen of each of some users, who have an address of their own behind a proxy. */
export async function firstScreens(
  url: string,
  tokens: readonly string[],
  from: number,
  to: number,
): Promise<void> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const body = JSON.stringify({ query: HOME });
  const waiting = [...tokens.entries()].slice(from, to).values();
  const askInTurn = async () => {
    for (const [at, token] of waiting) {
      const answer = await pool.request({
        method: 'POST',
        path: pathname,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          'x-forwarded-for': `10.0.${at >> 8}.${at & 255}`,
        },
        body,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || !text.startsWith('{"data"')) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, askInTurn));
  await pool.close();
}
