import { sandboxSettings } from '../app/sandbox-settings.ts';
import { readArguments } from '../cli/command/arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK, type Terminal } from '../cli/command/dispatch.ts';
import { startSandbox } from '../sandbox/start.ts';
import { type ConfigurationReport, checkConfiguration } from './gateway/configuration.ts';
import { type Credentials, readCredentials } from './gateway/credentials.ts';
import type { Finding } from './gateway/finding.ts';
import { checkGateway, type GatewayReport } from './gateway/gateway-check.ts';
import { callLine, findingLines } from './gateway/lines.ts';
import { Probe } from './gateway/probe.ts';

/** Finds the faults that prevent a start, or make the first requests fail. */
export const checkCommand: Command = {
  usage: [
    'Usage: trading-graph check [--sandbox] [--strict] [--json]',
    '',
    'Checks the configuration as a start does, all problems at once, and then the gateway at GATEWAY_URL: signs in,',
    'runs each operation that reads, compares the answers with the interface field by field, and names the settings',
    'that fit. It writes nothing and places no order; of answers and tokens it prints names and types, never values.',
    '',
    '  --sandbox  checks the sandbox gateway instead, as its demo user',
    '  --strict   a warning counts as a problem',
    '  --json     the whole report as JSON',
    '',
    'Variables of the check, in addition to those of the service:',
    '  CHECK_EMAIL, CHECK_PASSWORD    the user who signs in (op 2, once), or',
    '  CHECK_TOKEN                    a token to call with',
    '  CHECK_PASSWORD_FILE, CHECK_TOKEN_FILE   files that hold them',
    '',
    'Exit code: 0 no problem (there may be warnings), 1 a problem, 2 a faulty command line.',
  ].join('\n'),
  async run(args, terminal) {
    const given = readArguments({
      args: [...args],
      options: {
        sandbox: { type: 'boolean' },
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
    const { json = false, sandbox = false, strict = false } = given.values;
    // With --json nothing is printed before the report.
    const out = json ? () => {} : terminal.out;
    const configuration = await checkConfiguration(terminal.environment);
    for (const line of configurationLines(configuration)) out(line);
    const target = targetOf(configuration, sandbox);
    out(`Gateway        ${target.words}`);
    const report =
      target.kind === 'none'
        ? null
        : await checkTarget(target, configuration, { ...terminal, out });
    const count = countOf(configuration, report?.findings ?? []);
    const isFailed = count.problems > 0 || (strict && count.warnings > 0);
    if (report) for (const line of reportLines(report)) out(line);
    out('');
    out(conclusion(count, target));
    if (json) {
      const { problems, warnings } = configuration;
      const whole = {
        ok: !isFailed,
        configuration: { problems, warnings },
        checked: target.kind,
        gateway: report,
      };
      terminal.out(JSON.stringify(whole, null, 2));
    }
    return isFailed ? EXIT_FAILED : EXIT_OK;
  },
};

interface Target {
  readonly kind: 'gateway' | 'sandbox' | 'none';
  readonly words: string;
}

// If one of these settings is faulty, `config` has its default, so the gateway would be checked with another value.
const OF_THE_GATEWAY = /^(GATEWAY|CATALOG|JWT|SANDBOX)(_|$)/;

function targetOf({ config, faulty }: ConfigurationReport, sandbox: boolean): Target {
  if ([...faulty].some((name) => OF_THE_GATEWAY.test(name))) {
    return { kind: 'none', words: 'not checked, because some of its settings are wrong' };
  }
  if (sandbox) return { kind: 'sandbox', words: 'the sandbox' };
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
  terminal: Terminal,
): Promise<GatewayReport> {
  await using started = new AsyncDisposableStack();
  const sandbox =
    kind === 'sandbox' ? started.use(await startSandbox(sandboxSettings(config))) : null;
  const probe = started.use(
    new Probe({
      ...config,
      url: sandbox?.url ?? config.gatewayUrl ?? '',
      gatewayForwardClient: false,
    }),
  );
  return await checkGateway({
    probe,
    config,
    credentials: sandbox === null ? readCredentials(terminal.environment) : DEMO_USER,
    nowMs: Date.now,
    onEnd: (call) => terminal.out(callLine(call)),
  });
}

const DEMO_USER: Credentials = { kind: 'password', email: 'demo@example.com', password: 'demo' };

function reportLines(report: GatewayReport): string[] {
  const settings = Object.entries(report.settings);
  return [
    ...findingLines(report.findings),
    ...(settings.length > 0 ? ['', 'Set'] : []),
    ...settings.map(([name, value]) => `  ${name}=${value}`),
  ];
}

type Count = Readonly<Record<'problems' | 'warnings', number>>;

function countOf(configuration: ConfigurationReport, findings: readonly Finding[]): Count {
  const countAt = (level: Finding['level']) =>
    findings.filter((finding) => finding.level === level).length;
  return {
    problems: configuration.problems.length + countAt('problem'),
    warnings: configuration.warnings.length + countAt('warning'),
  };
}

function conclusion({ problems, warnings }: Count, { kind }: Target): string {
  if (problems > 0) return `${plural(problems, 'problem')}.`;
  if (warnings > 0) return `No problem, ${plural(warnings, 'warning')}.`;
  return kind === 'none' ? 'The configuration is fine.' : 'No problem.';
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
