import { useEffect, useState } from 'react';
import type { ResumedOrder } from 'trading-graph-client';
import { tradingGraph } from './api.ts';
import type { LivePositions } from './use-live-positions.ts';

/** Orders that had no outcome when the page was closed. */
export function EarlierOrders({ status }: LivePositions) {
  const [earlier, setEarlier] = useState<readonly ResumedOrder[] | null>(null);

  useEffect(() => {
    if (earlier === null && status !== 'OFFLINE')
      tradingGraph.orders.resume().then(setEarlier, () => {});
  }, [earlier, status]);

  function forget(order: ResumedOrder) {
    const hide = () => setEarlier((shown) => shown?.filter((each) => each !== order) ?? null);
    // Where it stays stored, it goes on being shown.
    order.forget().then(hide, () => {});
  }

  return earlier?.map((order) => (
    <p key={order.idempotencyKey} className="card">
      An earlier order: {order.outcome.status}. Look at your positions.{' '}
      <button type="button" className="quiet" onClick={() => forget(order)}>
        I have looked
      </button>
    </p>
  ));
}
