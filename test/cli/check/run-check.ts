import { type SandboxOptions, startSandbox } from '../../../src/sandbox/start.ts';
import { runCli } from '../../support/run-cli.ts';

export type Variables = Readonly<Record<string, string>>;

/** Settings for any machine: free ports, and no file. */
export const SERVICE = { ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' };
export const DEMO = { CHECK_EMAIL: 'demo@example.com', CHECK_PASSWORD: 'demo' };

export function startGateway(options: SandboxOptions = {}) {
  return startSandbox({ tickMs: 0, instruments: 20, ...options });
}

export async function check(variables: Variables) {
  const result = await runCli(['check'], { ...SERVICE, ...variables });
  const text = result.out.trimEnd();
  const list = /\nProblems\n((?: {2}- .*\n)*)/.exec(`${text}\n`)?.[1] ?? '';
  const lines = list.split('\n').filter(Boolean);
  const problems = lines.map((line) => line.replace('  - ', ''));
  return { ...result, text, problems };
}

/** Checks a gateway as the demo user. */
export function checkOf({ url }: { readonly url: string }, more: Variables = {}) {
  return check({ GATEWAY_URL: url, ...DEMO, ...more });
}
