import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { stepUntil } from './steps.ts';

/**
 * These ports are below those that systems assign. Otherwise a server or a connection of another process could get one of
 * them first.
 */
const LOWEST = 20_000;
const HIGHEST = 30_000;

/** Distinct free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  const tryOne = async () => {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) ports.add(port);
  };
  await stepUntil(() => ports.size === count, tryOne, 1_000);
  return [...ports];
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0] as number;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
