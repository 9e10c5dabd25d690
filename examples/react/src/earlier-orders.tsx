import { useEffect, useState } from 'react';
import type { ResumedOrder } from 'trading-graph-client';
import { useClient, usePositions } from 'trading-graph-client/react';
import { time } from './format.ts';

/** Orders that had no outcome when the page was closed. */
export function EarlierOrders() {
  const { orders } = useClient();
  const { status, error } = usePositions({ intervalMs: 500 });
  const connection = status === 'OFFLINE' ? error?.code : status;
  const [earlier, setEarlier] = useState<readonly ResumedOrder[] | null>(null);

  useEffect(() => {
    // Without a connection there is no outcome, so the page asks again at each change of the connection.
    if (earlier === null && connection !== undefined) orders.resume().then(setEarlier, () => {});
  }, [orders, earlier, connection]);

  async function forget(order: ResumedOrder) {
    try {
      await order.forget();
      setEarlier((shown) => shown?.filter((each) => each !== order) ?? null);
    } catch {
      // The order is still stored, and would return after a reload. So it stays on the page.
    }
  }

  return earlier?.map((order) => (
    <section
      key={order.idempotencyKey}
      className="card outcome"
      data-outcome={order.outcome.status}
    >
      <h3>An earlier order: {order.outcome.status}</h3>
      <p>
        Sent {order.placedAt === null ? 'before' : `at ${time(new Date(order.placedAt))}`}. Look at
        your positions.
      </p>
      <button type="button" onClick={() => forget(order)}>
        I have looked
      </button>
    </section>
  ));
}
