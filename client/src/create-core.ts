import { type BaseOptions, createBaseCore, type OwnCore } from './base-core.ts';
import type { Environment } from './environment.ts';
import { withinTime } from './request/deadline.ts';
import { ServerClock } from './server-clock.ts';
import type { ClientStorage } from './storage.ts';
import { Subscriptions } from './subscribe/subscriptions.ts';
import { TransportMemory } from './subscribe/transport-memory.ts';

export type { OwnCore } from './base-core.ts';

export interface CoreOptions extends BaseOptions {
  readonly storage: ClientStorage | null;
  readonly environment: Environment;
  readonly heartbeatSeconds?: number | undefined;
  readonly hiddenSeconds?: number | undefined;
}

const HINT_WAIT_MS = 10_000;

/** The core of a client that subscribes too. */
export function createCore(options: CoreOptions): OwnCore {
  const { environment, storage, heartbeatSeconds = 15, hiddenSeconds = 30 } = options;
  const times = { heartbeatMs: heartbeatSeconds * 1_000, hiddenMs: hiddenSeconds * 1_000 };
  const serverClock = new ServerClock(environment);
  const memory = new TransportMemory(storage, environment);
  const expected: { login: string | null } = { login: null };
  const core = createBaseCore(
    { ...options, memory, expected, environment: { ...environment, onDate: serverClock.onDate } },
    ({ prepare, ...own }) =>
      new Subscriptions({ ...own, ...times, environment, memory, prepare: hinted(prepare) }),
  );
  return Object.assign(core, {
    environment,
    storage,
    serverClock,
    heartbeatSeconds,
    expectLogin(login: string | null) {
      expected.login = login;
    },
  });

  /** A line without the hint works as well, on any replica, so that it waits for a moment only. So does one with a former account's. */
  function hinted(findHint: (token: string) => Promise<void>) {
    return async (token: string) => {
      await memory.seeking;
      if (options.route === false || memory.hint !== null) return;
      const found = withinTime(environment, HINT_WAIT_MS, undefined, (time) =>
        time.race(findHint(token)),
      ).catch(() => {});
      await memory.recallHint();
      if (memory.hint === null) await found;
    };
  }
}
