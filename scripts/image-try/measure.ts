import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../../bench/support/statistics.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import type { BuiltImage } from './build.ts';
import { startContainer } from './container.ts';

export const STARTS = 3;
/** What it holds changes no more after that: there is no load. */
export const IDLE_MS = 1_000;

/** With a gateway outside, as in production, and the heap that a container of 2 GiB gives. */
export async function measure(image: BuiltImage) {
  await using sandbox = await startSandbox({ tickMs: 1_000 });
  const starts: number[] = [];
  let idleMegabytes = 0;
  for (let at = 1; at <= STARTS; at += 1) {
    await using container = await startContainer(image, {
      GATEWAY_URL: sandbox.url,
      NODE_OPTIONS: '--max-old-space-size=1024',
    });
    starts.push(await container.serving);
    if (at === STARTS) {
      await delay(IDLE_MS);
      idleMegabytes = Math.round(Number.parseInt(container.status().VmRSS ?? '', 10) / 1_000);
    }
    await container.stop();
  }
  return { startSeconds: median(starts), idleMegabytes };
}
