import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { stepUntil } from './steps.ts';

/**
 * Below the ports that systems assign by themselves: otherwise a server or a connection of another process could get one of
 * these before the process that it is meant for.
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
