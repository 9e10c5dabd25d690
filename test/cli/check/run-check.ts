import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { dispatch } from '../../../src/cli/dispatch.ts';

export type Variables = Readonly<Record<string, string>>;

export const SERVICE = { ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' };
export const DEMO = { CHECK_EMAIL: 'demo@example.com', CHECK_PASSWORD: 'demo' };

export function startGateway(options: SandboxOptions = {}) {
  return startSandbox({ tickMs: 0, instruments: 20, ...options });
}

export async function check(
  variables: Variables,
  args: readonly string[] = [],
  ask: (question: string) => Promise<string | null> = () => Promise.resolve(null),
) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await dispatch(COMMANDS, ['check', ...args], {
    environment: { ...SERVICE, ...variables },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    ask,
    stopped: () => Promise.resolve(),
  });
  // Texts are wrapped for the console.
  const text = out.join('\n').replace(/\n {4}(?=\S)/g, ' ');
  const block = /\nProblems\n((?: {2}- .*\n)*)/.exec(`${text}\n`)?.[1] ?? '';
  const problems = block.split('\n').filter(Boolean);
  return { code, text, problems: problems.map((line) => line.slice(4)), err };
}

/** The check of a gateway, by the demo user. */
export function checkOf({ url }: { readonly url: string }, more: Variables = {}) {
  return check({ GATEWAY_URL: url, ...DEMO, ...more });
}
