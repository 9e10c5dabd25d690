import { connect } from 'node:net';
import { AnswerReader } from './answer-reader.ts';
import { stayAwake } from './stay-awake.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** The bytes of the next request on a connection. */
  readonly next: (connection: number) => Buffer;
}

/**
 * Each connection sends again once it is answered. It writes prepared bytes and counts what
 * comes back: a full HTTP client would need more of its core than the contestants of theirs.
 * Resolves with the number of answers.
 */
export async function fire(load: Load): Promise<number> {
  const deadlineMs = performance.now() + load.durationMs;
  const rest = stayAwake();
  const connections = Array.from({ length: load.connections }, (_, at) =>
    ask(load, at, deadlineMs),
  );
  const answered = await Promise.all(connections);
  rest();
  return answered.reduce((sum, count) => sum + count, 0);
}

function ask({ port, next }: Load, connection: number, deadlineMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = new AnswerReader();
    let answered = 0;
    const send = () => socket.write(next(connection));
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
      answered += 1;
      if (performance.now() < deadlineMs) return void send();
      socket.removeAllListeners('close');
      socket.destroy();
      resolve(answered);
    });
  });
}
