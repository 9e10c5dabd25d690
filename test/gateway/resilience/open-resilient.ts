import { setTimeout as delay } from 'node:timers/promises';
import { GatewayClient } from '../../../src/gateway/client.ts';
import { Resilience } from '../../../src/gateway/resilience/resilience.ts';
import { gatewayWidths, Pools, Transport } from '../../../src/gateway/transport.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { toToken } from '../../../src/lib/limits/request-caller.ts';
import { provedAs } from '../../support/accounts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { stepUntil } from '../../support/steps.ts';
import { clientSettings } from '../open-client.ts';

const MAX_STEPS = 30_000;

/** A gateway client with retries and breakers, on real sockets, and a clock that the test moves. */
export function openResilient(
  gatewayUrl: string,
  { timeoutMs = 30_000, connections = 128 }: { timeoutMs?: number; connections?: number } = {},
) {
  const widths = gatewayWidths(connections);
  const pools = new Pools(gatewayUrl, widths, timeoutMs);
  const clock = createScriptedClock();
  /** Each opening and closing of a breaker, such as `orders open`. */
  const circuitChanges: string[] = [];
  /** The operations that began to be refused by 429. */
  const quotas: string[] = [];
  const retries: string[] = [];
  const resilience = new Resilience(new Transport(pools, new LogicalClock()).send, {
    clock,
    random: () => 0.5,
    widths,
    onCircuit: (name, state) => circuitChanges.push(`${name} ${state}`),
    onQuota: (name) => quotas.push(name),
    observe({ operation, resends }) {
      if (resends) retries.push(operation.name);
    },
  });
  const client = new GatewayClient({ send: resilience.send, ...clientSettings(timeoutMs) });
  /** Advances the clock while timers are pending. Without pending timers it waits in real time, for the sockets. */
  async function runClockUntil<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    work.then(settled, settled);
    const step = () => (clock.pending > 0 ? clock.advance(10) : delay(1));
    await stepUntil(() => isSettled, step, MAX_STEPS);
    return work;
  }
  return {
    clock,
    client,
    resilience,
    circuitChanges,
    quotas,
    retries,
    pools,
    runClockUntil,
    [Symbol.asyncDispose]: () => pools.close(),
  };
}

/** A caller with a proved account. Each index gives another account. */
export function caller(index: number) {
  return { token: toToken(`token ${index}`), ...provedAs(String(1_000 + index)) };
}
