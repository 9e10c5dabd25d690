import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.ts';
import { stayAwake } from './stay-awake.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** The pause of each connection between an answer and its next request. */
  readonly restMs?: number;
  /** Busy-polls for answers, instead of sleeping until one comes. */
  readonly staysAwake?: boolean;
  /** The bytes of the next request on a connection. */
  readonly next: (connection: number) => Buffer;
}

export interface LoadResult {
  readonly answered: number;
  readonly latenciesMs: readonly number[];
}

/**
 * Each connection sends again once it is answered. It writes prepared bytes and counts what
 * comes back: a full HTTP client would need more of its core than the contestants of theirs.
 */
export async function fire(load: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const deadlineMs = performance.now() + load.durationMs;
  const rest = load.staysAwake ? stayAwake() : () => {};
  await Promise.all(
    Array.from({ length: load.connections }, (_, at) => ask(load, at, deadlineMs, latenciesMs)),
  );
  rest();
  return { answered: latenciesMs.length, latenciesMs };
}

function ask(
  { port, next, restMs = 0 }: Load,
  connection: number,
  deadlineMs: number,
  latenciesMs: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = new AnswerReader();
    let sentAtMs = 0;
    const send = () => {
      sentAtMs = performance.now();
      socket.write(next(connection));
    };
    const fail = (reason: unknown) => {
      socket.destroy();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    socket.once('connect', send);
    socket.once('error', fail);
    socket.once('close', () => fail('the contestant hung up'));
    socket.on('data', (chunk: Buffer) => {
      if (!reader.take(chunk)) return;
      if (reader.status !== 200) return fail(`status ${reader.status}`);
      const nowMs = performance.now();
      latenciesMs.push(nowMs - sentAtMs);
      if (nowMs < deadlineMs) {
        if (restMs > 0) setTimeout(send, restMs);
        else send();
        return;
      }
      socket.removeAllListeners('close');
      socket.destroy();
      resolve();
    });
  });
}
