import { createHash } from 'node:crypto';
import { WebSocket } from 'ws';
import { type Client, createClient } from '../../../client/src/create-client.ts';
import type { PositionsState } from '../../../client/src/live/states.ts';
import type { Sandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { loopbackAddress } from '../../support/loopback-address.ts';

/** An app that follows its account's positions over its own socket. */
export class Viewer {
  readonly email: string;
  readonly #client: Client;
  /** The state that it shows now. */
  state: PositionsState | undefined;

  constructor({ email, url, sandbox, route, address }: ViewerOptions) {
    this.email = email;
    const from = class extends WebSocket {
      constructor(target: string, protocols: string) {
        super(target, protocols, address === undefined ? {} : { localAddress: address });
      }
    };
    this.#client = createClient({
      url: route ? `${url}?route=${hintOf(sandbox.token({ email }))}` : url,
      token: () => sandbox.token({ email }),
      environment: { WebSocket: from as unknown as typeof globalThis.WebSocket },
    });
    this.#client.positions((state) => {
      this.state = state;
    });
  }

  dispose(): void {
    this.#client.dispose();
  }
}

/** Four hex digits of a hash of the login, by which the load balancer finds the account's replica. */
function hintOf(token: string): string {
  const { login } = JSON.parse(atob(token.split('.')[1] ?? ''));
  return createHash('sha256').update(String(login)).digest('hex').slice(0, 4);
}

interface ViewerOptions {
  readonly email: string;
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly route: boolean;
  /** This machine's address from which its socket connects. */
  readonly address?: string;
}

export interface CrowdOptions {
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly accounts: number;
  readonly socketsPerAccount: number;
  /** If false, the clients send no routing hint. */
  readonly route?: boolean;
}

const OPENED_AT_ONCE = 25;

/** Viewers of many accounts. All of them have received a list. */
export class Crowd implements Disposable {
  readonly viewers: Viewer[] = [];

  static async open({ url, sandbox, accounts, socketsPerAccount, route = true }: CrowdOptions) {
    const crowd = new Crowd();
    for (let n = 0; n < accounts * socketsPerAccount; n += 1) {
      const email = `user-${1 + (n % accounts)}@example.com`;
      crowd.viewers.push(new Viewer({ email, url, sandbox, route, address: loopbackAddress(n) }));
      if (n % OPENED_AT_ONCE === 0) await crowd.allLive();
    }
    await crowd.allLive();
    return crowd;
  }

  async allLive(): Promise<void> {
    await eventually(() => this.viewers.every(({ state }) => state?.status === 'LIVE'));
  }

  [Symbol.dispose](): void {
    for (const viewer of this.viewers) viewer.dispose();
  }
}
