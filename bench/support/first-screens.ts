import { Pool } from 'undici';
import { inParallel } from '../../test/support/in-parallel.ts';
import { HOME } from './documents.ts';
import { post } from './post.ts';

const CONNECTIONS = 16;

/** A home screen of each of some users, who have an address of their own behind a proxy. */
export async function firstScreens(
  port: number,
  tokens: readonly string[],
  from: number,
  to: number,
): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
  await inParallel(to - from, CONNECTIONS, async (index) => {
    const at = from + index;
    const address = { 'x-forwarded-for': `10.0.${at >> 8}.${at & 255}` };
    const { status, text } = await post(pool, tokens[at] ?? '', { query: HOME }, address);
    if (status !== 200 || !text.startsWith('{"data"')) throw new Error(text);
  });
  await pool.close();
}
