import type { Environment } from '../../../src/config.ts';
import type { Line, Stage } from './stage.ts';

/** A fault of the night, and all that has to tell of it: an alert at least. */
export interface Scene {
  readonly title: string;
  /** The alerts that have to fire: the page, where there is one, and the tickets that name the cause. */
  readonly alerts: readonly string[];
  /** The lines that have to be logged, by a replica or by the load balancer. */
  readonly lines: readonly ExpectedLine[];
  /** Of readiness, or where no replica is degraded what the lines name: `seen-reasons.ts`. */
  readonly reasons: readonly string[];
  readonly environment?: Environment;
  readonly needs?: 'small disk' | 'TLS';
  begin(stage: Stage): Promise<unknown>;
  end(stage: Stage): Promise<unknown>;
}

/** A row of a list: what it leaves out is not expected. */
export type SceneRow = Omit<Scene, 'lines' | 'reasons'> & Partial<Pick<Scene, 'lines' | 'reasons'>>;

export interface ExpectedLine {
  /** As the table shows it. */
  readonly says: string;
  readonly fits: (line: Line) => boolean;
}

/** A line with this message, and a text that it has somewhere. */
export const line = (message: string, detail = ''): ExpectedLine => ({
  says: `\`${message}\`${detail === '' ? '' : `, \`${detail}\``}`,
  fits: (each) =>
    String(each.msg).includes(message) && (JSON.stringify(each) ?? '').includes(detail),
});

/** A breaker opens, and says why. */
export const opens = (cause: string): ExpectedLine => ({
  says: `\`circuit breaker\`, \`cause: ${cause}\``,
  fits: (each) => each.msg === 'circuit breaker' && each.state === 'open' && each.cause === cause,
});

/** A fault of the sandbox gateway, until it is cleared. */
export const gatewayFault = (fault: Parameters<Stage['gateway']['fail']>[0]) => ({
  begin: async ({ gateway }: Stage) => gateway.fail(fault),
  end: async ({ gateway }: Stage) => gateway.clearFaults(),
});

/** All replicas come up with another environment, and with their own again. */
export const restartedWith = (environment: (stage: Stage) => Environment) => ({
  begin: (stage: Stage) => stage.restartAll(environment(stage)),
  end: (stage: Stage) => stage.restartAll(),
});
