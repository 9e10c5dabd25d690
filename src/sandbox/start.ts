import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Context } from './call.ts';
import { createControl, type SandboxControl } from './control.ts';
import { createControlListener } from './control-http.ts';
import { Faults } from './faults.ts';
import { Observations } from './observations.ts';
import { createRoutes } from './routes.ts';
import { createListener } from './server.ts';
import { Tokens } from './tokens.ts';
import { Waits } from './waits.ts';
import { createWorld } from './world.ts';

export interface SandboxOptions {
  readonly seed?: string | undefined;
  /** The size of the standard group's catalog. */
  readonly instruments?: number | undefined;
  /** The interval between market ticks; with 0 only the control API ticks. */
  readonly tickMs?: number | undefined;
  readonly host?: string | undefined;
  /** 0 means any free port. */
  readonly port?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Signs the tokens (HS256); by default derived from the seed. */
  readonly secret?: string | undefined;
  readonly tokenTtlSeconds?: number | undefined;
  readonly loginClaim?: string | undefined;
  readonly groupClaim?: string | undefined;
  readonly directionField?: string | undefined;
  readonly mobileWallet?: string | undefined;
  /** The duration of an order of TEST.SLOW. */
  readonly slowMs?: number | undefined;
  /** The prefix of every path, such as `/api/v1`. */
  readonly pathPrefix?: string | undefined;
}

export interface Sandbox extends SandboxControl, AsyncDisposable {
  /** The gateway's base URL. */
  readonly url: string;
  readonly port: number;
  readonly secret: string;
  close(): Promise<void>;
}

/** Starts the sandbox gateway on a local port. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { seed = '1', instruments = 500, tickMs = 1_000, clock = systemClock } = options;
  const { host = '127.0.0.1', port = 0, pathPrefix = '', mobileWallet = 'mobile-wallet' } = options;
  const secret = options.secret ?? secretOf(seed);
  let lastOrderId = 900_000_000;
  const nextOrderId = () => {
    lastOrderId += 1;
    return lastOrderId;
  };
  const renewed = () => createWorld({ seed, instruments, clock, nextOrderId });
  let world = renewed();
  const tokens = new Tokens({
    secret,
    ttlSeconds: options.tokenTtlSeconds ?? 28_800,
    loginClaim: options.loginClaim ?? 'login',
    groupClaim: options.groupClaim ?? 'group',
    clock,
  });
  const waits = new Waits(clock);
  const faults = new Faults(clock);
  const observations = new Observations();
  const context: Context = {
    get world() {
      return world;
    },
    tokens,
    clock,
    directionField: options.directionField ?? 'direction',
    mobileWallet,
    slowMs: options.slowMs ?? 20_000,
    wait: (ms) => waits.wait(ms),
  };
  const control = createControl({
    world: () => world,
    renew: () => {
      world = renewed();
    },
    tokens,
    faults,
    observations,
  });
  const server = createServer(
    createListener({
      context,
      faults,
      observations,
      routes: createRoutes(mobileWallet),
      pathPrefix,
      control: createControlListener(control, observations, clock),
    }),
  );
  server.keepAliveTimeout = 65_000;
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;

  let stopTicking = () => {};
  const schedule = () => {
    stopTicking = clock.after(tickMs, () => {
      world.tick();
      schedule();
    });
  };
  if (tickMs > 0) schedule();

  const close = async () => {
    stopTicking();
    waits.end();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    ...control,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${pathPrefix}`,
    port: bound,
    secret,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Deterministic per seed, so that a token stays valid after a restart of the sandbox. */
function secretOf(seed: string): string {
  return createHash('sha256').update(`sandbox token secret/${seed}`).digest('hex');
}
