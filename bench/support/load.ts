import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AnswerReader } from './answer-reader.ts';
import { stayAwake } from './stay-awake.ts';
import type { Subject } from './subject.ts';
import type { Workload } from './workloads.ts';

// After the last answer the subject finishes its remaining work within this time.
const SETTLING_MS = 30;

/**
 * Sends requests of one kind for a while: each connection sends the next request when the last is answered. It writes
 * prepared bytes and counts the answers, because an HTTP client would need more CPU than the subjects. Resolves with the
 * number of answers.
 */
export async function load(
  subject: Subject,
  { connections, next, samples: [sampled] }: Workload,
  durationMs: number,
): Promise<number> {
  const deadlineMs = performance.now() + durationMs;
  // A subject that replays recorded answers ignores the question, so it needs no new one for each request.
  const question = subject.replaysRecording ? () => sampled : next;
  let sent = 0;
  // As with a proxy, any connection carries any client's token.
  const nextRequest = () => {
    const request = subject.requestBytes(question(), sent);
    sent += 1;
    return request;
  };
  using _awake = stayAwake();
  const answered = await Promise.all(
    Array.from({ length: connections }, () => ask(subject.process.port, nextRequest, deadlineMs)),
  );
  return answered.reduce((sum, count) => sum + count, 0);
}

/** Returns the microseconds of CPU for one request. */
export async function sample(...options: Parameters<typeof load>): Promise<number> {
  const [{ process }] = options;
  const before = await process.ask({ ask: 'cpu' });
  const answered = await load(...options);
  await delay(SETTLING_MS);
  const after = await process.ask({ ask: 'cpu' });
  return (after - before) / answered;
}

/** Sends requests on one connection until the deadline. Resolves with the number of answers. */
function ask(port: number, next: () => Buffer, deadlineMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = new AnswerReader();
    let answered = 0;
    const send = () => socket.write(next());
    const fail = (reason: unknown) => {
      socket.destroy();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    socket.once('connect', send);
    socket.once('error', fail);
    socket.once('close', () => fail('the subject hung up'));
    socket.on('data', (chunk: Buffer) => {
      if (!reader.take(chunk)) return;
      if (reader.status !== 200) return fail(`status ${reader.status}`);
      answered += 1;
      if (performance.now() < deadlineMs) {
        send();
        return;
      }
      // The end of the connection is no failure now.
      socket.removeAllListeners('close');
      socket.destroy();
      resolve(answered);
    });
  });
}
