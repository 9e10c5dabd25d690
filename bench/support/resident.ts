import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { HOME } from './documents.ts';
import type { ProbedProcess } from './probed-process.ts';

const CONNECTIONS = 16;
const LOOK_MS = 1_000;
const LEVEL_FOR_MS = 10_000;
const LEVEL_WITHIN_MB = 2;
const SETTLES_WITHIN_MS = 90_000;

/** The resident memory once it has stayed level: V8 collects and gives pages back some seconds after the last request. */
export async function settledMb(started: ProbedProcess): Promise<number> {
  const deadlineMs = performance.now() + SETTLES_WITHIN_MS;
  let level = { mb: mbOf(started), sinceMs: performance.now() };
  while (performance.now() < deadlineMs) {
    await delay(LOOK_MS);
    const mb = mbOf(started);
    const nowMs = performance.now();
    if (Math.abs(mb - level.mb) > LEVEL_WITHIN_MB) level = { mb, sinceMs: nowMs };
    else if (nowMs - level.sinceMs >= LEVEL_FOR_MS) return mb;
  }
  throw new Error(`the resident memory was not level within ${SETTLES_WITHIN_MS / 1000} s`);
}

/** The highest resident memory of some time in which the process is at work: it rises and falls with each collection. */
export async function highestMb(started: ProbedProcess, forMs: number): Promise<number> {
  const untilMs = performance.now() + forMs;
  let highest = mbOf(started);
  while (performance.now() < untilMs) {
    await delay(LOOK_MS);
    highest = Math.max(highest, mbOf(started));
  }
  return highest;
}

/** A home screen of each of some users, who have an address of their own behind a proxy. */
export async function firstScreens(
  url: string,
  tokens: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  let next = from;
  const body = JSON.stringify({ query: HOME });
  const askInTurn = async () => {
    while (next < to) {
      const at = next;
      next += 1;
      const answer = await pool.request({
        method: 'POST',
        path: pathname,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${tokens[at]}`,
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

function mbOf({ residentBytes }: ProbedProcess): number {
  return residentBytes / 1_048_576;
}
