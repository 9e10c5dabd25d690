import type { Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { Exchanger } from '../request/exchange.ts';
import { lateError } from '../request/failures.ts';
import { SocketTransport } from '../subscribe/socket-transport.ts';

/**
 * Sends a request over a WebSocket of its own, because `fetch` would choose the dead connection. Undefined if the platform
 * has no WebSocket.
 */
export function freshSocket(environment: Environment): Exchanger | undefined {
  const { WebSocket } = environment;
  if (!WebSocket) return;
  return (_, { url, token, timeoutMs, signal, leaving, ...request }) => {
    let close = () => {};
    const answer = new Promise<Result<unknown>>((resolve, reject) => {
      // A token that is refused here will also be refused by `fetch` in the next request, which renews it.
      const lost = () => reject(lateError(undefined, 'The connection was lost.'));
      // The machine may have slept while the connection was opened, so `leaving` checks once more whether to send the order.
      const acknowledged = () => {
        try {
          leaving?.();
        } catch (error) {
          close();
          reject(error);
        }
      };
      const transport = new SocketTransport({
        environment,
        WebSocket,
        // A connection that died while it opened has no acknowledgement, so the order is not sent on it.
        sendsAfter: 'acknowledgement',
        url,
        token: token ?? '',
        heartbeatMs: timeoutMs,
        events: { acknowledged, lost },
      });
      close = () => transport.close();
      transport.start(request, {
        next: resolve,
        ended: (errors) => resolve({ data: null, errors }),
      });
    });
    return withinTime(environment, timeoutMs, signal, ({ race }) => race(answer)).finally(close);
  };
}
