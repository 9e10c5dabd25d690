import { WebSocket } from 'ws';
import { openSocket } from '../open-socket.ts';
import {
  type Account,
  AnswerEnds,
  type HostileDocument,
  type HostileReply,
  NO_REPLY,
} from './hostile-client.ts';

interface Operation {
  readonly ends: AnswerEnds;
  readonly isEndless: boolean;
  readonly done: (reply: HostileReply) => void;
}

/** One socket of an account, with as many operations on it as it likes. */
export async function openHostileSocket({ port, token }: Account) {
  const { socket } = await openSocket(port, token);
  const operations = new Map<string, Operation>();
  let events = 0;
  let last = 0;

  socket.on('message', (data: Buffer) => {
    // The envelope stands before the payload.
    const head = data.toString('latin1', 0, 200);
    const id = /"id":"(\d+)"/.exec(head)?.[1] ?? '';
    const type = /"type":"(\w+)"/.exec(head)?.[1];
    if (type === 'ping') send({ type: 'pong' });
    const operation = operations.get(id);
    if (operation === undefined) return;
    operation.ends.take(data);
    if (type === 'next') events += 1;
    if (type === 'next' && !operation.isEndless) complete(id, operation);
    else if (type !== 'next') finish(id, operation);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const { done } of operations.values()) done(NO_REPLY);
    operations.clear();
  });

  function complete(id: string, operation: Operation): void {
    send({ id, type: 'complete' });
    finish(id, operation);
  }

  function finish(id: string, { ends, done }: Operation): void {
    operations.delete(id);
    done({ status: 200, codes: ends.codes });
  }

  function send(message: object): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  return {
    /** Of all operations, finished or not. */
    events: () => events,
    /** Resolves after the first event, or where it is endless when the server ends it. Never rejects. */
    run({ text, variables }: HostileDocument, isEndless = false): Promise<HostileReply> {
      if (socket.readyState !== WebSocket.OPEN) return Promise.resolve(NO_REPLY);
      last += 1;
      const id = String(last);
      return new Promise((done) => {
        operations.set(id, { ends: new AnswerEnds(), isEndless, done });
        send({ id, type: 'subscribe', payload: { query: text, variables } });
      });
    },
    /** Completes every operation in flight. */
    complete() {
      for (const [id, operation] of operations) complete(id, operation);
    },
    /** Stops reading, so that back-pressure reaches the server. */
    pause: () => socket.pause(),
    [Symbol.dispose]: () => socket.terminate(),
  };
}
