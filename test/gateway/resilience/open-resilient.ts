import { GatewayClient } from '../../../src/gateway/client.ts';
import { createPools } from '../../../src/gateway/pools.ts';
import { Resilience } from '../../../src/gateway/resilience/resilience.ts';
import { createTransport } from '../../../src/gateway/transport.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

/** The client over real sockets with everything in between, on a clock that the test moves. */
export function openResilient(
  gatewayUrl: string,
  { timeoutMs = 5_000, connections = 128, pollConnections = 32 } = {},
) {
  const clock = createScriptedClock();
  const pools = createPools({ gatewayUrl, connections, connectTimeoutMs: timeoutMs });
  const circuits: string[] = [];
  const retries: string[] = [];
  const resilience = new Resilience(
    createTransport(pools, () => {}),
    {
      clock,
      random: () => 0.5,
      pollConnections,
      onCircuit: (backend, state) => circuits.push(`${backend} ${state}`),
      onRetry: ({ operation }) => retries.push(operation),
    },
  );
  const client = new GatewayClient({
    send: resilience.send,
    headers: {},
    forwardClient: false,
    directionField: 'direction',
    mobileWallet: 'mobile-wallet',
    timeUnit: 'auto',
    timeoutMs,
    orderTimeoutMs: timeoutMs,
    catalogTimeoutMs: timeoutMs,
    maxBytes: 1_000_000,
    catalogMaxBytes: 1_000_000,
  });
  /** Advances the clock in small steps until it settles, so that timers in between run. */
  async function hurry<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    while (!isDone) await clock.advance(10);
    return work;
  }
  return {
    clock,
    client,
    resilience,
    circuits,
    retries,
    hurry,
    [Symbol.asyncDispose]: () => pools.close(),
  };
}

/** The n-th of many accounts. */
export function caller(index: number) {
  return { token: `token ${index}`, account: `${1_000 + index}` };
}

export function kindOf(error: unknown): unknown {
  return (error as { kind?: unknown }).kind;
}
