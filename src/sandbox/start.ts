import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type Clock, systemClock } from '../lib/clock.ts';
import { listen } from '../lib/listen.ts';
import { SandboxControl } from './control.ts';
import { createControlListener } from './control-http.ts';
import { Faults } from './faults.ts';
import { Observations } from './observations.ts';
import { Routes } from './routes.ts';
import { createListener } from './server.ts';
import { Tokens } from './tokens.ts';
import { Waits } from './waits.ts';
import { World } from './world.ts';

/** The number before that of the first order. */
const ORDER_ID_BASE = 900_000_000;
/** Longer than clients keep an idle connection, so that none of them sends a request on a connection that closes. */
const KEEP_ALIVE_MS = 65_000;
/** Longer than a client waits for the outcome of an order by default. */
const SLOW_ORDER_MS = 20_000;

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
  readonly loginClaim?: string | undefined;
  readonly groupClaim?: string | undefined;
  readonly directionField?: string | undefined;
  readonly mobileWallet?: string | undefined;
  /** The duration of an order of TEST.SLOW. */
  readonly slowMs?: number | undefined;
}

/** A sandbox gateway, with its controls. */
export class Sandbox extends SandboxControl implements AsyncDisposable {
  readonly secret: string;
  readonly #server: Server;
  readonly #waits: Waits;
  readonly #clock: Clock;
  #url = '';
  #port = 0;
  #stopTicking = () => {};

  constructor(options: SandboxOptions) {
    const { seed = '1', instruments = 500, clock = systemClock } = options;
    const { mobileWallet = 'mobile-wallet', secret = secretOf(seed) } = options;
    const tokens = new Tokens({
      secret,
      loginClaim: options.loginClaim ?? 'login',
      groupClaim: options.groupClaim ?? 'group',
      clock,
    });
    const faults = new Faults(clock);
    const observations = new Observations();
    let lastOrderId = ORDER_ID_BASE;
    const nextOrderId = () => {
      lastOrderId += 1;
      return lastOrderId;
    };
    const newWorld = () => new World({ seed, instruments, clock, nextOrderId });
    super({ newWorld, tokens, faults, observations });
    const waits = new Waits(clock);
    this.secret = secret;
    this.#clock = clock;
    this.#waits = waits;
    const currentWorld = () => this.world;
    const listener = createListener({
      context: {
        // Read at each use: a call that was delayed across a reset uses the new world.
        get world() {
          return currentWorld();
        },
        tokens,
        clock,
        directionField: options.directionField ?? 'direction',
        mobileWallet,
        slowMs: options.slowMs ?? SLOW_ORDER_MS,
        wait: (ms) => waits.wait(ms),
      },
      faults,
      observations,
      routes: new Routes(mobileWallet),
      control: createControlListener(this),
    });
    this.#server = createServer(listener);
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  /** The gateway's base URL. */
  get url(): string {
    return this.#url;
  }

  get port(): number {
    return this.#port;
  }

  async listen(host: string, port: number): Promise<void> {
    this.#port = await listen(this.#server, port, host);
    const name = host.includes(':') ? `[${host}]` : host;
    this.#url = `http://${name}:${this.#port}`;
  }

  tickEvery(ms: number): void {
    this.#stopTicking = this.#clock.after(ms, () => {
      this.tick();
      this.tickEvery(ms);
    });
  }

  async close(): Promise<void> {
    this.#stopTicking();
    this.#waits.end();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts the sandbox gateway on a local port. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, tickMs = 1_000 } = options;
  const sandbox = new Sandbox(options);
  await sandbox.listen(host, port);
  if (tickMs > 0) sandbox.tickEvery(tickMs);
  return sandbox;
}

/** Deterministic per seed, so that a token stays valid after a restart of the sandbox. */
function secretOf(seed: string): string {
  return createHash('sha256').update(`sandbox token secret/${seed}`).digest('hex');
}
