import type { Environment } from '../../../src/config.ts';
import { type FacadeProcess, startFacadeProcess } from '../facade-process.ts';
import { freePorts } from '../free-ports.ts';

type GatewayEnvironment = Environment & { readonly GATEWAY_URL: string };

/** What the admin port says of a replica. */
export interface NightHealth {
  readonly reasons?: readonly string[];
  readonly details?: readonly unknown[];
  readonly revision?: string;
}

/** One of the replicas, which keeps its ports over its lives. */
export class NightReplica {
  readonly address: string;
  readonly adminAddress: string;
  readonly #environment: GatewayEnvironment;
  #facade: FacadeProcess | null = null;
  /** Of the processes that have ended. */
  readonly #former: string[] = [];

  private constructor(environment: GatewayEnvironment, port: number, adminPort: number) {
    this.#environment = { ...environment, PORT: String(port), ADMIN_PORT: String(adminPort) };
    this.address = `127.0.0.1:${port}`;
    this.adminAddress = `127.0.0.1:${adminPort}`;
  }

  static async start(environment: GatewayEnvironment): Promise<NightReplica> {
    const [port, adminPort] = await freePorts(2);
    const replica = new NightReplica(environment, port ?? 0, adminPort ?? 0);
    await replica.start();
    return replica;
  }

  get logged(): readonly string[] {
    return [...this.#former, ...(this.#facade?.logged ?? [])];
  }

  async start(environment: Environment = {}): Promise<void> {
    this.#facade = await startFacadeProcess({ ...this.#environment, ...environment });
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    const facade = this.#facade;
    if (facade === null) return;
    await facade.kill();
    this.#former.push(...facade.logged);
    this.#facade = null;
  }

  async restart(environment: Environment = {}): Promise<void> {
    await this.kill();
    await this.start(environment);
  }

  /** Null where nothing answers. */
  async health(): Promise<NightHealth | null> {
    try {
      const answer = await fetch(`http://${this.adminAddress}/health/ready`);
      return (await answer.json()) as NightHealth;
    } catch {
      return null;
    }
  }

  /** Empty where nothing answers. */
  async metrics(): Promise<string> {
    try {
      return await (await fetch(`http://${this.adminAddress}/metrics`)).text();
    } catch {
      return '';
    }
  }
}
