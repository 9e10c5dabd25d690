import { setTimeout as delay } from 'node:timers/promises';
import { BareProcess, type Starter } from './bare-process.ts';
import { HOME } from './documents.ts';

export interface StartFigures {
  /** Milliseconds of CPU, of all threads, until it accepts connections. */
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Resident megabytes once it is idle, and after a first home screen with the catalog that it needs. */
  readonly idleMb: number;
  readonly afterScreenMb: number | null;
}

const IDLE_AFTER_MS = 2_000;

export async function measureStart(
  starter: Starter,
  gateway: { readonly url: string; readonly tokens: readonly string[] },
): Promise<StartFigures> {
  const startedAt = performance.now();
  await using started = await BareProcess.start(starter, gateway);
  const elapsedMs = performance.now() - startedAt;
  const { cpuMs } = started;
  await delay(IDLE_AFTER_MS);
  const idleMb = started.residentMb;
  let afterScreenMb: number | null = null;
  if (starter.endpoint !== null) {
    const url = `http://127.0.0.1:${started.port}${starter.endpoint}`;
    await askHome(url, gateway.tokens[0] ?? '');
    await delay(IDLE_AFTER_MS);
    afterScreenMb = started.residentMb;
  }
  return { cpuMs, elapsedMs, idleMb, afterScreenMb };
}

async function askHome(url: string, token: string): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: HOME }),
  });
  const { data, errors } = (await answer.json()) as { data?: unknown; errors?: unknown };
  if (!data || errors) throw new Error(`${url}: ${JSON.stringify(errors)}`);
}
