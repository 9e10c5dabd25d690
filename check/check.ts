import { startEmbeddedSandbox } from '../src/app/embedded-sandbox.ts';
import { readArguments } from '../src/cli/arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK, type Terminal } from '../src/cli/dispatch.ts';
import type { SettingName } from '../src/config/settings.ts';
import { type ConfigurationReport, checkConfiguration } from './gateway/configuration.ts';
import { type Credentials, readCredentials } from './gateway/credentials.ts';
import type { Finding } from './gateway/finding.ts';
import { checkGateway, type GatewayReport } from './gateway/gateway-check.ts';
import { callLine, findingLines, nameOf, unknownLines } from './gateway/lines.ts';
import { createProbe } from './gateway/probe.ts';
import { Progress } from './progress.ts';

/** Tells before a start what a start, or its first request, would fail of. */
export const checkCommand: Command = {
  usage: [
    'Usage: trading-graph check [--sandbox] [--json]',
    '',
    'Checks the configuration as a start does, all problems at once, and then the gateway at GATEWAY_URL:',
    'signs in, calls each operation that reads, compares the answers with the interface field by field,',
    'and says which settings fit. It writes nothing and places no order; of answers and tokens it prints names',
    'and types, never values.',
    '',
    '  --sandbox  checks the sandbox gateway instead, as its demo user',
    '  --json     the whole report as JSON',
    '',
    'Variables of the check, beside those of the service:',
    '  CHECK_TOKEN                    a token to call with, or',
    '  CHECK_EMAIL, CHECK_PASSWORD    who signs in (op 2, once)',
    '  CHECK_TOKEN_FILE, CHECK_PASSWORD_FILE   files that hold them; without any the console is asked',
    '',
    'Exit code: 0 no problem (there may be warnings), 1 a problem, 2 a faulty command line.',
  ].join('\n'),
  async run(args, terminal) {
    const given = readArguments({
      args: [...args],
      options: { sandbox: { type: 'boolean' }, json: { type: 'boolean' } },
    });
    const { json = false, sandbox = false } = given.values;
    // As JSON, all but the progress waits for the end.
    const out = json ? () => {} : terminal.out;
    const configuration = await checkConfiguration(terminal.environment);
    for (const line of configurationLines(configuration)) out(line);
    const target = targetOf(configuration, sandbox);
    out(`Gateway        ${target.words}`);
    const report =
      target.kind === 'none'
        ? null
        : await checkTarget(target, configuration, { ...terminal, out });
    const findings = report?.findings ?? [];
    const ok = configuration.problems.length === 0 && isClean(findings);
    if (report) for (const line of reportLines(report)) out(line);
    out('');
    out(conclusion(configuration, findings, target));
    if (json) terminal.out(JSON.stringify(jsonOf(ok, configuration, target, report), null, 2));
    return ok ? EXIT_OK : EXIT_FAILED;
  },
};

interface Target {
  readonly kind: 'gateway' | 'sandbox' | 'none';
  readonly words: string;
}

// A setting that is wrong has its default here, which is not what was meant.
const OF_THE_GATEWAY = /^(GATEWAY|CATALOG|JWT|SANDBOX)(_|$)/;

function targetOf({ config, faulty }: ConfigurationReport, sandbox: boolean): Target {
  if ([...faulty].some((name) => OF_THE_GATEWAY.test(name))) {
    return { kind: 'none', words: 'not checked, since settings of it are wrong' };
  }
  if (sandbox) return { kind: 'sandbox', words: 'the sandbox' };
  if (config.gatewayUrl !== null) return { kind: 'gateway', words: config.gatewayUrl };
  return {
    kind: 'none',
    words: 'not checked: GATEWAY_URL is unset (--sandbox checks the sandbox gateway)',
  };
}

function configurationLines({ problems, warnings }: ConfigurationReport): string[] {
  const count = problems.length;
  const verdict = count === 0 ? 'fine' : `${count} ${count === 1 ? 'problem' : 'problems'}`;
  return [
    `Configuration  ${verdict}`,
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
  const sandbox = kind === 'sandbox' ? started.use(await startEmbeddedSandbox(config)) : null;
  const probe = started.use(
    createProbe({
      ...config,
      url: sandbox?.url ?? config.gatewayUrl ?? '',
      gatewayForwardClient: false,
      gatewayForwardHeaders: [],
    }),
  );
  let progress: Progress | null = null;
  return await checkGateway({
    probe,
    config,
    credentials: () => (sandbox === null ? readCredentials(terminal) : Promise.resolve(DEMO_USER)),
    nowMs: Date.now,
    onStart(operation) {
      progress = new Progress(terminal, (seconds) => `… ${nameOf(operation)}: ${seconds} s`);
    },
    onEnd(call) {
      progress?.[Symbol.dispose]();
      terminal.out(callLine(call));
    },
  });
}

/** The settings that only operations use which change something. */
const UNVERIFIED: readonly SettingName[] = ['GATEWAY_DIRECTION_FIELD', 'GATEWAY_MOBILE_WALLET'];

const DEMO_USER: Credentials = { email: 'demo@example.com', password: 'demo' };

function reportLines(report: GatewayReport): string[] {
  const unknowns = unknownLines(report);
  const settings = Object.entries(report.settings);
  return [
    ...(unknowns.length > 0 ? ['', 'Where the interface is silent', ...unknowns] : []),
    ...findingLines(report.findings),
    ...(settings.length > 0 ? ['', 'Set'] : []),
    ...settings.map(([name, value]) => `  ${name}=${value}`),
    '',
    'Not verified, since only a write would show whether they fit',
    ...UNVERIFIED.map((name) => `  ${name}`),
  ];
}

function conclusion(
  { problems }: ConfigurationReport,
  findings: readonly Finding[],
  { kind }: Target,
): string {
  const count = problems.length + findings.filter(({ level }) => level === 'problem').length;
  if (count > 0) return `${count} ${count === 1 ? 'problem' : 'problems'}.`;
  const warnings = findings.filter(({ level }) => level === 'warning').length;
  if (warnings > 0) return `No problem, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  return kind === 'none' ? 'The configuration is fine.' : 'No problem.';
}

function isClean(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== 'problem');
}

function jsonOf(
  ok: boolean,
  { problems, warnings }: ConfigurationReport,
  { kind }: Target,
  report: GatewayReport | null,
) {
  const unverified = report === null ? [] : UNVERIFIED;
  return { ok, configuration: { problems, warnings }, checked: kind, gateway: report, unverified };
}
