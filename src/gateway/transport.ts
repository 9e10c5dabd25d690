import { Dispatch } from './dispatch.ts';
import type { Exchange, ObserveCall, Send } from './exchange.ts';
import { OPERATIONS } from './operations.ts';
import type { Pools } from './pools.ts';

/** `counter` numbers the calls in the order in which they are sent. */
export function createTransport(
  pools: Pools,
  observe: ObserveCall,
  counter: { sent: number } = { sent: 0 },
): Send {
  return (call) => {
    const { verb, area } = OPERATIONS[call.operation];
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    const dispatch = new Dispatch(call, counter, observe, resolve);
    if (dispatch.isOver) return promise;
    try {
      pools[area].dispatch(
        {
          path: pools.prefix + call.path,
          method: verb,
          // undici only reads them, whatever its types say.
          headers: call.headers as string[],
          body: call.body,
        },
        dispatch,
      );
    } catch (error) {
      dispatch.fail('connection', error);
    }
    return promise;
  };
}
