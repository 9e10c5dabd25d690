import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-ports.ts';
import { accepts } from './accepting.ts';
import { CONTESTANT_CORE, onCore } from './cores.ts';
import { HOME } from './documents.ts';

export interface Starter {
  readonly name: string;
  readonly script: string;
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Null where it answers nothing of interest. */
  readonly endpoint: string | null;
}

export interface StartFigures {
  /** Milliseconds of CPU, of all threads, until it accepts connections. */
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Resident megabytes once it is idle, and after a first home screen with the catalog that it needs. */
  readonly idleMb: number;
  readonly afterScreenMb: number | null;
}

const CLOCK_TICK_MS = 10;
const IDLE_AFTER_MS = 2_000;
const LOOK_MS = 5;

/** Starts a program without anything preloaded, which would be a part of the figures. */
export async function measureStart(
  { script, folder, environment, endpoint }: Starter,
  gateway: { readonly url: string; readonly tokens: readonly string[] },
): Promise<StartFigures> {
  const port = await freePort();
  const [command = '', ...args] = onCore(CONTESTANT_CORE, process.execPath, [script]);
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: String(port),
      GATEWAY_URL: gateway.url,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
      await delay(LOOK_MS);
    }
    const elapsedMs = performance.now() - startedAt;
    const cpuMs = cpuOf(child);
    await delay(IDLE_AFTER_MS);
    const idleMb = residentOf(child);
    let afterScreenMb: number | null = null;
    if (endpoint !== null) {
      await askHome(`http://127.0.0.1:${port}${endpoint}`, gateway.tokens[0] ?? '');
      await delay(IDLE_AFTER_MS);
      afterScreenMb = residentOf(child);
    }
    return { cpuMs, elapsedMs, idleMb, afterScreenMb };
  } finally {
    // A compile cache is written at a graceful end only.
    child.kill('SIGTERM');
    await ended;
  }
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

function cpuOf({ pid }: ChildProcess): number {
  // The name of the program, in brackets, may hold spaces.
  const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user = '0', system = '0'] = fields.split(' ').slice(11);
  return (Number(user) + Number(system)) * CLOCK_TICK_MS;
}

function residentOf({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}
