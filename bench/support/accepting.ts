import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProbedProcess } from './probed-process.ts';

const STARTS_WITHIN_MS = 30_000;

/** Resolves when the process accepts connections; throws its output where it does not. */
export async function accepting(child: ProbedProcess, port: number): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS;
  while (!(await accepts(port))) {
    if (child.hasEnded || Date.now() > deadlineMs) {
      await child[Symbol.asyncDispose]();
      throw new Error(`a process did not come up: ${child.output}`);
    }
    await delay(50);
  }
}

/** True where something listens on the port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
