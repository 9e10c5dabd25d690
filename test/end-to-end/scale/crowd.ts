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
  /** The newest state. */
  state: PositionsState | undefined;

  constructor({ email, url, sandbox, route, address }: ViewerOptions) {
    this.email = email;
    const LocalWebSocket = class extends WebSocket {
      constructor(target: string, protocols: string) {
        super(target, protocols, address === undefined ? {} : { localAddress: address });
      }
    };
    this.#client = createClient({
      url: route ? `${url}?route=${hintOf(sandbox.token({ email }))}` : url,
      token: () => sandbox.token({ email }),
      environment: { WebSocket: LocalWebSocket as unknown as typeof globalThis.WebSocket },
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
  /** The address of this machine from which the socket connects. */
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

/** Viewers of many accounts, each of which has received a list. */
export class Crowd implements Disposable {
  readonly viewers: Viewer[] = [];

  static async open({ url, sandbox, accounts, socketsPerAccount, route = true }: CrowdOptions) {
    const crowd = new Crowd();
    for (let index = 0; index < accounts * socketsPerAccount; index += 1) {
      const email = `user-${1 + (index % accounts)}@example.com`;
      const address = loopbackAddress(index);
      crowd.viewers.push(new Viewer({ email, url, sandbox, route, address }));
      if (index % OPENED_AT_ONCE === 0) await crowd.allLive();
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
