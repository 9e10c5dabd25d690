import { readFile } from 'node:fs/promises';

/** Times of rules, routes and scrapes are divided by it, so that a window has as many samples as in reality. */
export const HASTENED_BY = 30;

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const TIME = /(\b(?:for|group_wait|group_interval|repeat_interval): |\[)(\d+)([smhd])/g;

/** A file of `deploy/prometheus` with every time and every window of an expression shorter; all else stays as it is. */
export async function hastened(name: string): Promise<string> {
  const path = new URL(`../../../deploy/prometheus/${name}`, import.meta.url);
  return (await readFile(path, 'utf8')).replace(TIME, (_whole, before, count, unit) => {
    const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
    return `${before}${Math.round((seconds * 1_000) / HASTENED_BY)}ms`;
  });
}
