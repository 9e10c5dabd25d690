import { sandboxSettings } from '../app/app-options.ts';
import type { Environment } from '../config.ts';
import { startSandbox } from '../sandbox/start.ts';
import { type ConfigurationReport, checkConfiguration } from './configuration.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import { checkGateway } from './gateway-check.ts';
import { Probe } from './probe.ts';
import { callLine, type Finding, findingLines } from './report.ts';

interface CheckOptions {
  readonly environment: Environment;
  /** Checks the sandbox in place of the configured gateway. */
  readonly isSandbox: boolean;
  /** Called with each line of the report. */
  readonly onLine: (line: string) => void;
}

/** Checks the configuration, and then the gateway. Returns whether there is no problem. */
export async function check({ environment, isSandbox, onLine }: CheckOptions): Promise<boolean> {
  const configuration = await checkConfiguration(environment);
  const { problems, warnings } = configuration;
  for (const line of configurationLines(configuration)) onLine(line);
  const target = targetOf(configuration, isSandbox);
  onLine(`Gateway        ${target.words}`);
  const findings =
    target.kind === 'none' ? [] : await checkTarget(target, configuration, environment, onLine);
  for (const line of findingLines(findings)) onLine(line);
  const count = {
    problems: problems.length + countAt('problem', findings),
    warnings: warnings.length + countAt('warning', findings),
  };
  onLine('');
  onLine(conclusion(count, target));
  return count.problems === 0;
}

interface Target {
  readonly kind: 'gateway' | 'sandbox' | 'none';
  readonly words: string;
}

// If one of these settings is faulty, `config` has its default, so the gateway would be checked with another value.
const OF_THE_GATEWAY = /^(GATEWAY|CATALOG|JWT|SANDBOX)(_|$)/;

function targetOf({ config, faulty }: ConfigurationReport, isSandbox: boolean): Target {
  if ([...faulty].some((name) => OF_THE_GATEWAY.test(name))) {
    return { kind: 'none', words: 'not checked, because some of its settings are wrong' };
  }
  if (isSandbox) return { kind: 'sandbox', words: 'the sandbox' };
  if (config.gatewayUrl !== null) return { kind: 'gateway', words: config.gatewayUrl };
  return {
    kind: 'none',
    words: 'not checked: GATEWAY_URL is unset (--sandbox checks the sandbox gateway)',
  };
}

function configurationLines({ problems, warnings }: ConfigurationReport): string[] {
  return [
    `Configuration  ${problems.length === 0 ? 'fine' : plural(problems.length, 'problem')}`,
    ...problems.map((line) => `  - ${line}`),
    ...warnings.map((line) => `  - warning: ${line}`),
  ];
}

async function checkTarget(
  { kind }: Target,
  { config }: ConfigurationReport,
  environment: Environment,
  onLine: (line: string) => void,
): Promise<readonly Finding[]> {
  await using started = new AsyncDisposableStack();
  const sandbox =
    kind === 'sandbox' ? started.use(await startSandbox(sandboxSettings(config))) : null;
  const url = sandbox?.url ?? config.gatewayUrl ?? '';
  const probe = started.use(new Probe({ ...config, url, gatewayForwardClient: false }));
  return await checkGateway({
    probe,
    config,
    credentials: sandbox === null ? readCredentials(environment) : DEMO_USER,
    nowMs: Date.now,
    onEnd: (call) => onLine(callLine(call)),
  });
}

const DEMO_USER: Credentials = { kind: 'password', email: 'demo@example.com', password: 'demo' };

function countAt(level: Finding['level'], findings: readonly Finding[]): number {
  return findings.filter((finding) => finding.level === level).length;
}

type Count = Readonly<Record<'problems' | 'warnings', number>>;

function conclusion({ problems, warnings }: Count, { kind }: Target): string {
  if (problems > 0) return `${plural(problems, 'problem')}.`;
  if (warnings > 0) return `No problem, ${plural(warnings, 'warning')}.`;
  return kind === 'none' ? 'The configuration is fine.' : 'No problem.';
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
